import ConcurrencyPrimitives
import ContractTesting
import Foundation

/// The server of a rule: a script runs on a thread of its own for each connection, byte by byte.
final class TransportPeer: Sendable {
    private let acceptor: LoopbackAcceptor
    private let received = Locked<[LoopbackServer.Request]>([])

    init(_ script: @escaping @Sendable (PeerConnection) -> Void) throws {
        acceptor = try LoopbackAcceptor()
        acceptor.start { [self] connection, number in script(PeerConnection(connection, number: number, peer: self)) }
    }

    var url: URL { acceptor.url }

    /// Responds to every request of every connection with the same bytes.
    convenience init(responding text: String) throws {
        try self.init { connection in
            while connection.readRequest() != nil { guard connection.send(text) else { return } }
        }
    }

    /// The requests that have arrived in full.
    var requests: [LoopbackServer.Request] { received.withLock { $0 } }

    /// The connections so far.
    var connectionCount: Int { acceptor.connectionCount }

    func record(_ request: LoopbackServer.Request) {
        received.withLock { $0.append(request) }
    }

    func stop() { acceptor.stop() }
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
        peer.record(request)
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

    /// Returns `false` when the client has closed the connection.
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

    /// Waits until the client has closed the connection, for a time at most.
    func isClosed(within limit: Duration) -> Bool { connection.isClosed(within: limit) }
}
