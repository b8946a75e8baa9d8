import ContractTesting
import DevBackend
import Testing

/// Starts a server for each case of a test: ``backend``, of which ``client`` is a client.
struct ServerTrait: TestTrait, TestScoping {
    @TaskLocal fileprivate static var current: (backend: DevBackend, clock: ManualTimeSource)?

    fileprivate let hasClock: Bool
    fileprivate let configure: @Sendable (inout DevBackend.Configuration) -> Void

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        let clock = ManualTimeSource()
        var configuration = DevBackend.Configuration()
        if hasClock { configuration.now = { clock.date } }
        configure(&configuration)
        try await DevBackend.withServer(configuration) { backend in
            try await Self.$current.withValue((backend, clock)) { try await function() }
        }
    }

    fileprivate static var running: (backend: DevBackend, clock: ManualTimeSource) {
        guard let current else { preconditionFailure("the test has no trait .server") }
        return current
    }
}

extension Trait where Self == ServerTrait {
    static var server: Self { server() }

    /// With a server of a configuration, whose clock may be ``clock``.
    static func server(
        hasClock: Bool = false, _ configure: @escaping @Sendable (inout DevBackend.Configuration) -> Void = { _ in }
    ) -> Self { Self(hasClock: hasClock, configure: configure) }
}

/// The server of a test with the trait `server`.
var backend: DevBackend { ServerTrait.running.backend }

var client: TestClient { TestClient(backend) }

var clock: ManualTimeSource { ServerTrait.running.clock }
