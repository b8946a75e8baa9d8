import ConcurrencyPrimitives
package import Foundation

/// Accepts connections on a free loopback port, and serves each one on a separate thread.
package final class LoopbackAcceptor: Sendable {
    private struct State {
        var connections: [Int: LoopbackConnection] = [:]
        var connectionCount = 0
        var isStopped = false
    }

    package let url: URL
    private let listener: LoopbackListener
    private let state = Locked(State())

    /// Opens the port. It accepts nothing before ``start(serving:)``.
    ///
    /// - Throws: `POSIXError` when no socket is available.
    package init() throws {
        listener = try LoopbackListener()
        guard let url = URL(string: "http://127.0.0.1:\(listener.port)") else { throw URLError(.badURL) }
        self.url = url
    }

    /// The number of connections so far.
    package var connectionCount: Int { state.withLock { $0.connectionCount } }

    /// Accepts connections until ``stop()``. Each is served on its own until the closure returns; the numbers count
    /// from 0.
    package func start(serving serve: @escaping @Sendable (LoopbackConnection, _ number: Int) -> Void) {
        Thread.detachNewThread { [self] in acceptConnections(serve) }
    }

    /// Closes all connections and the port.
    package func stop() {
        let isFirst = state.withLock { state in
            for connection in state.connections.values { connection.shutDown() }
            defer { state.isStopped = true }
            return !state.isStopped
        }
        if isFirst { listener.wake() }
    }

    private func acceptConnections(_ serve: @escaping @Sendable (LoopbackConnection, Int) -> Void) {
        defer { listener.close() }
        while let connection = listener.accept() {
            let number: Int? = state.withLock { state in
                guard !state.isStopped else { return nil }
                defer { state.connectionCount += 1 }
                state.connections[state.connectionCount] = connection
                return state.connectionCount
            }
            guard let number else { return connection.close() }  // by `stop`
            let thread = Thread { [self] in
                serve(connection, number)
                state.withLock { state in
                    state.connections[number] = nil
                    // Under the lock: `stop` must not shut down a descriptor that the system has given to another file.
                    connection.close()
                }
            }
            thread.stackSize = 512 * 1_024
            thread.start()
        }
    }
}
