import ContractTesting
import Foundation

/// An HTTP/1.1 server in a process of its own, so that measurements of a client do not contain it.
///
/// It writes the URL of its port, and ends with its input. `GET /json` gets a short object, `GET /bytes/COUNT/RATE`
/// that many bytes, at most RATE bytes a second (0: no limit). A body of a request is read and dropped.
enum ServerPeer {
    private static let piece = Data(count: 256 * 1_024)

    static func run() throws {
        let acceptor = try LoopbackAcceptor()
        acceptor.start { connection, number in
            var reader = RequestReader(connection: connection, number: number)
            while let head = reader.readHead(), drop(bodyOf: head, from: &reader) {
                let path = head.target.split(separator: "/")
                guard path.first == "bytes", path.count == 3, let count = Int(path[1]), let rate = Int(path[2]) else {
                    let fields = "Content-Type: application/json\r\nContent-Length: 31\r\n\r\n"
                    guard connection.write(Data(("HTTP/1.1 200 OK\r\n" + fields + json).utf8)) else { return }
                    continue
                }
                connection.write(Data("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n".utf8))
                guard send(count, atMost: rate, to: connection) else { return }
            }
        }
        StandardIO.write(acceptor.url.absoluteString)
        while readLine() != nil {}
    }

    private static let json = "{\"id\":7,\"title\":\"An article\"}  "

    /// Reads a body without keeping it.
    private static func drop(bodyOf head: LoopbackServer.Request, from reader: inout RequestReader) -> Bool {
        if head["Transfer-Encoding"]?.lowercased() == "chunked" { return reader.readBody(of: head) != nil }
        var rest = head["Content-Length"].flatMap { Int($0) } ?? 0
        while rest > 0 {
            guard let bytes = reader.readBytes(min(rest, 64 * 1_024)) else { return false }
            rest -= bytes.count
        }
        return true
    }

    private static func wait(until date: Date) {
        let never = NSCondition()
        never.lock()
        while never.wait(until: date) {}
        never.unlock()
    }

    private static func send(_ count: Int, atMost rate: Int, to connection: LoopbackConnection) -> Bool {
        let start = Date()
        var sent = 0
        while sent < count {
            guard connection.write(piece.prefix(count - sent)) else { return false }
            sent += piece.count
            if rate > 0 { wait(until: start + Double(sent) / Double(rate)) }
        }
        return true
    }
}
