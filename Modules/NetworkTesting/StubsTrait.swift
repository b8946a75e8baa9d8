import ConcurrencyPrimitives
@_exported public import NetworkDoubles
public import Testing

/// Gives a test its own `StubTransport`, and records an issue for each stub that is left and each unexpected request.
///
/// At the end of the test it also records what is left in each `StubTransport` and `StubNetworkService` that the test
/// has created, even if a task that outlives the test holds it.
///
/// ```swift
/// @Test(.stubs(.get("articles") ~> .status(401), .get("articles") ~> .json(articles)))
/// func `a refused request is sent once more`() async throws {
///     let network = NetworkClient(baseURL: url, transport: StubTransport.current).authenticated(by: session)
///     …
/// }
/// ```
///
/// The transport belongs to the test's task, so tests run in parallel.
public struct StubsTrait: TestTrait, TestScoping {
    let stubs: [Stub]
    let file: StaticString
    let line: UInt

    /// Runs a test with its transport.
    ///
    /// - Throws: The error of the test.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let scope = StubScope(StubTransport(stubs, file: file, line: line, onIssue: StubIssue.recordInTest))
        defer { scope.end() }
        try await StubScope.$current.withValue(scope) { try await function() }
    }
}

/// The test doubles of one test.
final class StubScope: Sendable {
    @TaskLocal static var current: StubScope?

    let transport: StubTransport
    private let actionsAtEnd = Locked<[@Sendable () -> Void]>([])

    init(_ transport: StubTransport) { self.transport = transport }

    func atEnd(_ action: @escaping @Sendable () -> Void) { actionsAtEnd.withLock { $0.append(action) } }

    func end() {
        transport.recordLeftovers()
        for action in actionsAtEnd.withLock({ $0 }) { action() }
    }
}

extension Trait where Self == StubsTrait {
    /// Gives a test its own transport, `StubTransport.current`, and records an issue for each stub that is left and
    /// each unexpected request.
    public static func stubs(_ stubs: Stub..., file: StaticString = #filePath, line: UInt = #line) -> StubsTrait {
        StubsTrait(stubs: stubs, file: file, line: line)
    }
}
