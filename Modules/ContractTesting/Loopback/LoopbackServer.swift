import ConcurrencyPrimitives
package import Foundation

/// An HTTP/1.1 server on a free loopback port, which stops when it is released. A closure scripts its responses,
/// including invalid ones.
package final class LoopbackServer: Sendable {
    package struct Request: Sendable {
        package let method: String
        package let target: String
        package let headers: [(name: String, value: String)]
        package internal(set) var body = Data()
        /// The fields after a chunked body.
        package internal(set) var trailers: [(name: String, value: String)] = []
        /// The number of its connection, from 0.
        package let connection: Int

        package subscript(name: String) -> String? {
            headers.first { $0.name.lowercased() == name.lowercased() }?.value
        }

        package func values(of name: String) -> [String] {
            headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        }
    }

    /// What the server does with a request.
    package enum Action: Sendable {
        case respond(Int, headers: [String: String] = [:], body: Data = Data())
        /// Sends these bytes and closes the connection.
        case raw(Data)
        /// Sends these bytes and waits until the client closes the connection.
        case rawThenHold(Data)
        /// Closes the connection without a response.
        case close
        /// Waits until the client closes the connection.
        case hold

        package static func json(_ text: String, status: Int = 200, headers: [String: String] = [:]) -> Action {
            .respond(
                status, headers: headers.merging(["Content-Type": "application/json"]) { own, _ in own },
                body: Data(text.utf8))
        }
    }

    private let peer: LoopbackPeer

    /// Starts a server. The script runs on the connection's thread and may block it.
    ///
    /// - Throws: `POSIXError` when no socket is available.
    package init(_ script: @escaping @Sendable (Request) -> Action) throws {
        peer = try LoopbackPeer { connection in
            while let request = connection.readRequest() {
                guard Self.perform(script(request), on: connection) else { return }
            }
        }
    }

    deinit { stop() }

    package var url: URL { peer.url }

    /// The whole requests so far, in order of their arrival.
    package var requests: [Request] { peer.requests }

    /// The number of connections so far.
    package var connectionCount: Int { peer.connectionCount }

    /// Closes all connections and the port.
    package func stop() { peer.stop() }

    /// Returns whether the connection stays open.
    private static func perform(_ action: Action, on connection: LoopbackConnection) -> Bool {
        switch action {
        case .respond(let status, let headers, let body):
            var head = "HTTP/1.1 \(status) Scripted\r\n"
            for (name, value) in headers { head += "\(name): \(value)\r\n" }
            if status != 204, status != 304, headers["Content-Length"] == nil {
                head += "Content-Length: \(body.count)\r\n"
            }
            return connection.send(Data((head + "\r\n").utf8) + body)
        case .raw(let data): connection.send(data)
        case .rawThenHold(let data):
            connection.send(data)
            connection.waitForClose()
        case .hold: connection.waitForClose()
        case .close: break
        }
        return false
    }
}
