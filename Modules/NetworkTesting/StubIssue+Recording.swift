import Foundation
public import NetworkDoubles
import Testing

extension StubIssue {
    /// Records the issue of a double in the test that runs: at the stub, or at the test if no stub comes close.
    @Sendable static func recordInTest(_ issue: StubIssue) {
        let test = Test.current?.sourceLocation
        let path = URL(fileURLWithPath: "\(issue.file)")
        let module = test?.moduleName ?? path.deletingLastPathComponent().lastPathComponent
        let place = SourceLocation(
            fileID: "\(module)/\(path.lastPathComponent)", filePath: "\(issue.file)", line: Int(issue.line), column: 1)
        Issue.record("\(issue)", sourceLocation: issue.belongsToTest ? test ?? place : place)
    }
}

extension StubTransport {
    /// The transport of the current test, if it has the trait `.stubs(…)`. Without the trait, a new transport without
    /// stubs: tests have none in common.
    public static var current: StubTransport { StubScope.current?.transport ?? StubTransport() }

    /// Creates a transport whose issues fail the test. A stub that is left is an issue also when a test with the trait
    /// `.stubs(…)` ends, even if a task still holds the transport.
    public convenience init(_ stubs: Stub..., file: StaticString = #filePath, line: UInt = #line) {
        self.init(stubs, file: file, line: line)
    }

    /// Creates a transport whose issues fail the test.
    public convenience init(_ stubs: [Stub], file: StaticString = #filePath, line: UInt = #line) {
        self.init(stubs, file: file, line: line, onIssue: StubIssue.recordInTest)
        StubScope.current?.atEnd { [weak self] in self?.recordLeftovers() }
    }
}

extension StubNetworkService {
    /// Creates a service without stubs whose issues fail the test. A stub that is left is an issue also when a test
    /// with the trait `.stubs(…)` ends, even if a task still holds the service.
    public convenience init(file: StaticString = #filePath, line: UInt = #line) {
        self.init(file: file, line: line, onIssue: StubIssue.recordInTest)
        StubScope.current?.atEnd { [weak self] in self?.recordLeftovers() }
    }
}
