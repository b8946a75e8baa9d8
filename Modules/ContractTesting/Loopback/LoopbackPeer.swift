import ConcurrencyPrimitives
package import Foundation

/// A server on a free loopback port. A script serves each connection, byte by byte, on a thread of its own.
package final class LoopbackPeer: Sendable {
    private struct State {
        var descriptors: [Int: Int32] = [:]
        var connectionCount = 0
        var requests: [LoopbackServer.Request] = []
        var isStopped = false
    }

    package let url: URL
    private let listener: LoopbackListener
    private let state = Locked(State())

    /// Starts a server. It closes a connection when the script returns.
    ///
    /// - Throws: `POSIXError` when no socket is available.
    package init(_ script: @escaping @Sendable (LoopbackConnection) -> Void) throws {
        listener = try LoopbackListener()
        guard let url = URL(string: "http://127.0.0.1:\(listener.port)") else { throw URLError(.badURL) }
        self.url = url
        Thread.detachNewThread { [self] in acceptConnections(script) }
    }

    /// Starts a server that responds to every request with the same bytes.
    ///
    /// - Throws: As ``init(_:)``.
    package convenience init(responding text: String) throws {
        try self.init { connection in
            while connection.readRequest() != nil { guard connection.send(text) else { return } }
        }
    }

    /// The whole requests so far, in order of their arrival.
    package var requests: [LoopbackServer.Request] { state.withLock { $0.requests } }

    /// The number of connections so far.
    package var connectionCount: Int { state.withLock { $0.connectionCount } }

    func record(_ request: LoopbackServer.Request) { state.withLock { $0.requests.append(request) } }

    /// Closes all connections and the port.
    package func stop() {
        let isFirst = state.withLock { state in
            for descriptor in state.descriptors.values { shutdown(descriptor, Int32(SHUT_RDWR)) }
            defer { state.isStopped = true }
            return !state.isStopped
        }
        if isFirst { listener.wake() }
    }

    private func acceptConnections(_ script: @escaping @Sendable (LoopbackConnection) -> Void) {
        defer { listener.close() }
        while let descriptor = listener.accept() {
            let number: Int? = state.withLock { state in
                guard !state.isStopped else { return nil }
                defer { state.connectionCount += 1 }
                state.descriptors[state.connectionCount] = descriptor
                return state.connectionCount
            }
            guard let number else { return closeSocket(descriptor) }  // by `stop`
            let thread = Thread { [self] in
                script(LoopbackConnection(descriptor, number: number, peer: self))
                state.withLock { state in
                    state.descriptors[number] = nil
                    // Under the lock: `stop` must not shut down a descriptor that the system has given to another file.
                    closeSocket(descriptor)
                }
            }
            thread.stackSize = 512 * 1_024
            thread.start()
        }
    }
}
