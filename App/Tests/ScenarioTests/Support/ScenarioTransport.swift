import NetworkCore
import NetworkURLSession
import Testing

#if os(Linux)
import NetworkAsyncHTTPClient
#endif

/// The transports that the scenarios run over.
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

/// Runs each test once over each transport.
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
    /// Once over each transport.
    static var eachTransport: Self { Self() }
}
