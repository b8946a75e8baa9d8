import AuthTesting
import ConcurrencyPrimitives
import Foundation

/// The server of a rule: a script runs on a thread of its own for each connection, byte by byte.
final class TransportPeer: Sendable {
    private struct State {
        var connections: [Int: LoopbackConnection] = [:]
        var count = 0
        var requests: [LoopbackServer.Request] = []
        var isStopped = false
    }

    let url: URL
    private let listener: LoopbackListener
    private let state = Locked(State())
    private let script: @Sendable (PeerConnection) -> Void

    init(_ script: @escaping @Sendable (PeerConnection) -> Void) throws {
        listener = try LoopbackListener()
        guard let url = URL(string: "http://127.0.0.1:\(listener.port)") else { throw URLError(.badURL) }
        self.url = url
        self.script = script
        Thread.detachNewThread { [self] in acceptConnections() }
    }

    /// Responds to every request of every connection with the same bytes.
    convenience init(responding text: String) throws {
        try self.init { connection in
            while connection.readRequest() != nil { guard connection.send(text) else { return } }
        }
    }

    /// The requests that have arrived in full.
    var requests: [LoopbackServer.Request] { state.withLock { $0.requests } }

    /// The connections so far.
    var connectionCount: Int { state.withLock { $0.count } }

    func note(_ request: LoopbackServer.Request) {
        state.withLock { $0.requests.append(request) }
    }

    func stop() {
        let isFirst = state.withLock { state in
            for connection in state.connections.values { connection.shutDown() }
            defer { state.isStopped = true }
            return !state.isStopped
        }
        if isFirst { listener.wake() }
    }

    private func acceptConnections() {
        defer { listener.close() }
        while let connection = listener.accept() {
            let number: Int? = state.withLock { state in
                guard !state.isStopped else { return nil }
                defer { state.count += 1 }
                state.connections[state.count] = connection
                return state.count
            }
            guard let number else { return connection.close() }
            let thread = Thread { [self] in
                script(PeerConnection(connection, number: number, peer: self))
                state.withLock { state in
                    state.connections[number] = nil
                    // Under the lock: `stop` must not shut down a descriptor that belongs to another file by now.
                    connection.close()
                }
            }
            thread.stackSize = 512 * 1_024
            thread.start()
        }
    }
}

/// One connection of a ``TransportPeer``, used on the thread of its script.
final class PeerConnection {
    let number: Int
    private let connection: LoopbackConnection
    private let peer: TransportPeer
    private var reader: RequestReader

    init(_ connection: LoopbackConnection, number: Int, peer: TransportPeer) {
        self.connection = connection
        self.number = number
        self.peer = peer
        reader = RequestReader(connection: connection, number: number)
    }

    /// Waits for a request with its body. `nil`: the connection has ended.
    func readRequest() -> LoopbackServer.Request? {
        guard let head = reader.readHead(), let request = reader.readBody(of: head) else { return nil }
        peer.note(request)
        return request
    }

    /// Waits for a request without its body.
    func readHead() -> LoopbackServer.Request? { reader.readHead() }

    /// Waits for bytes of a body.
    func readBytes(_ count: Int) -> Data? { reader.readBytes(count) }

    /// Waits for a chunk of a body; empty at its end.
    func readChunk() -> Data? {
        guard let line = reader.readUntil("\r\n"), let size = Int(line, radix: 16), let chunk = reader.readBytes(size),
            reader.readUntil("\r\n") != nil
        else { return nil }
        return chunk
    }

    /// - Returns: `false` when the client has closed the connection.
    @discardableResult
    func send(_ text: String) -> Bool { connection.write(Data(text.utf8)) }

    @discardableResult
    func send(_ data: Data) -> Bool { connection.write(data) }

    /// Sends a response with a length.
    @discardableResult
    func respond(_ status: String = "200 OK", fields: [String] = [], body: Data = Data()) -> Bool {
        let head = (["HTTP/1.1 \(status)", "Content-Length: \(body.count)"] + fields).joined(separator: "\r\n")
        return send(Data((head + "\r\n\r\n").utf8) + body)
    }

    /// Sends a chunk of a body.
    @discardableResult
    func sendChunk(_ data: Data) -> Bool {
        send(Data("\(String(data.count, radix: 16))\r\n".utf8) + data + Data("\r\n".utf8))
    }

    func waitForClose() {
        while !connection.read().isEmpty {}
    }

    func resetWhenClosed() { connection.resetWhenClosed() }

    func wait(_ duration: Duration) { Thread.sleep(forTimeInterval: duration / .seconds(1)) }
}
