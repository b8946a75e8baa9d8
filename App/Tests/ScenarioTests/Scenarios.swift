import Foundation
import NetworkCore
import NetworkURLSession
import Testing

#if os(Linux)
import NetworkAsyncHTTPClient
#endif

/// The scenarios of the guarantees, one at a time: two concurrent bursts of a thousand requests would measure the
/// machine. The time limit is for a scenario that hangs, and long enough for a machine under load.
@Suite(.serialized, .eachTransport, .timeLimit(.minutes(20))) enum Scenarios {}

enum ScenarioTransport: String, CaseIterable {
    case urlSession
    #if os(Linux)
    case asyncHTTPClient
    #endif

    /// The transport of the application that a test creates: the platform's, unless ``EachTransport`` chooses.
    @TaskLocal static var current = allCases[allCases.count - 1]

    func make(connections: Int) -> any HTTPTransport {
        switch self {
        case .urlSession:
            var limits = URLSessionTransport.Limits()
            limits.connectionsPerHost = connections
            return URLSessionTransport(limits: limits)
        #if os(Linux)
        case .asyncHTTPClient:
            var limits = AsyncHTTPClientTransport.Limits()
            limits.connectionsPerOrigin = connections
            return AsyncHTTPClientTransport(limits: limits)
        #endif
        }
    }
}

struct EachTransport: SuiteTrait, TestTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        for transport in ScenarioTransport.allCases {
            note("\(test.name) over \(transport)")
            try await ScenarioTransport.$current.withValue(transport) { try await function() }
        }
    }
}

extension Trait where Self == EachTransport {
    static var eachTransport: Self { Self() }
}

/// Prints a figure without a buffer, so that it is not lost when a later scenario hangs.
func note(_ line: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
}
