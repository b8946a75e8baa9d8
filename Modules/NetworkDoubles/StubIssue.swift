/// A mistake that a test double found: a stub that is left, or a request without one.
///
/// The doubles know no test framework: each calls the closure that it was created with. In a test of XCTest:
///
/// ```swift
/// let network = StubNetworkService { XCTFail("\($0)", file: $0.file, line: $0.line) }
/// ```
///
/// `NetworkTesting` has the same doubles for Swift Testing, where an issue fails the test without a closure.
public struct StubIssue: Error, Sendable, CustomStringConvertible {
    /// Receives issues, on any thread; those of a stub that is left when the double is deallocated, too.
    public typealias Handler = @Sendable (StubIssue) -> Void

    /// What is wrong, in one line, without a secret.
    public let description: String

    /// The file of the stub: the one that is left, or the one that comes closest to the request. Without such a stub
    /// the file that created the double.
    public let file: StaticString

    /// The line in the file.
    public let line: UInt

    /// Whether no stub comes close, so that a framework that knows the test that runs shows the issue there.
    public let belongsToTest: Bool

    init(_ description: String, at place: StubPlace, belongsToTest: Bool = false) {
        self.description = description
        file = place.file
        line = place.line
        self.belongsToTest = belongsToTest
    }
}

/// Where a stub or a double was created.
struct StubPlace: Sendable {
    let file: StaticString
    let line: UInt
}
