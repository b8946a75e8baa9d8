import ConcurrencyPrimitives
package import ContractTesting

/// The servers of an instance of a suite, and so of one test. They stop with it.
package final class LoopbackServers: Sendable {
    private let running = Locked<[LoopbackServer]>([])

    package init() {}

    /// Starts a server on a port of its own.
    package func start(
        _ script: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Action
    ) throws -> LoopbackServer {
        let server = try LoopbackServer(script)
        running.withLock { $0.append(server) }
        return server
    }
}
