import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// An HTTP/1.1 server on a loopback port, scripted by one closure, also for behaviour that HTTP does not allow.
final class LoopbackServer: Sendable {
    /// A received request.
    struct Request: Sendable {
        let method: String
        let target: String
        let headers: [(name: String, value: String)]
        var body = Data()
        /// The number of its connection, from 0.
        let connection: Int

        subscript(name: String) -> String? {
            headers.first { $0.name.lowercased() == name.lowercased() }?.value
        }

        func values(of name: String) -> [String] {
            headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        }
    }

    /// The response to a request, or another behaviour.
    enum Action: Sendable {
        case respond(Int, headers: [String: String] = [:], body: Data = Data())
        /// Bytes, then the end of the connection.
        case raw(Data)
        /// Bytes, then nothing until the client closes the connection.
        case rawThenHold(Data)
        /// The end of the connection, without a response.
        case close
        /// Nothing until the client closes the connection.
        case hold

        static func json(_ text: String, status: Int = 200, headers: [String: String] = [:]) -> Action {
            .respond(
                status,
                headers: headers.merging(["Content-Type": "application/json"]) { own, _ in own },
                body: Data(text.utf8)
            )
        }
    }

    private struct State {
        var requests: [Request] = []
        var connections: [Int: LoopbackConnection] = [:]
        var connectionCount = 0
        var stopped = false
    }

    let url: URL
    private let listener: LoopbackListener
    private let state = Locked(State())
    private let script: @Sendable (Request) -> Action

    /// Starts a server.
    ///
    /// - Parameter script: The action for each request. It is called on the connection's thread and may block it.
    /// - Throws: `POSIXError` when no socket is available.
    init(_ script: @escaping @Sendable (Request) -> Action) throws {
        listener = try LoopbackListener()
        guard let url = URL(string: "http://127.0.0.1:\(listener.port)") else { throw URLError(.badURL) }
        self.url = url
        self.script = script
        let thread = Thread { [self] in acceptConnections() }
        thread.start()
    }

    /// The complete requests so far.
    var requests: [Request] { state.withLock { $0.requests } }

    /// The number of connections so far.
    var connectionCount: Int { state.withLock { $0.connectionCount } }

    /// Ends all connections and the server.
    func stop() {
        let connections = state.withLock { state in
            state.stopped = true
            return Array(state.connections.values)
        }
        listener.shutDown()
        connections.forEach { $0.shutDown() }
    }

    private func acceptConnections() {
        while let connection = listener.accept() {
            let number: Int? = state.withLock { state in
                guard !state.stopped else { return nil }
                let number = state.connectionCount
                state.connectionCount += 1
                state.connections[number] = connection
                return number
            }
            guard let number else { return connection.closeNow() }
            let thread = Thread { [self] in serve(connection, number: number) }
            thread.stackSize = 512 * 1_024
            thread.start()
        }
    }

    private func serve(_ connection: LoopbackConnection, number: Int) {
        var reader = RequestReader(connection: connection, number: number)
        while let head = reader.readHead() {
            guard let request = reader.readBody(of: head) else { break }
            state.withLock { $0.requests.append(request) }
            guard perform(script(request), on: connection) else { break }
        }
        state.withLock { state in
            state.connections[number] = nil
            // Closed under the lock, so that `stop` never shuts down a descriptor that has been reused.
            connection.closeNow()
        }
    }

    /// - Returns: Whether the connection stays open.
    private func perform(_ action: Action, on connection: LoopbackConnection) -> Bool {
        switch action {
        case .respond(let status, let headers, let body):
            var head = "HTTP/1.1 \(status) Scripted\r\n"
            for (name, value) in headers { head += "\(name): \(value)\r\n" }
            if status != 204, status != 304, headers["Content-Length"] == nil {
                head += "Content-Length: \(body.count)\r\n"
            }
            return connection.write(Data((head + "\r\n").utf8) + body)
        case .raw(let data):
            connection.write(data)
            return false
        case .rawThenHold(let data):
            connection.write(data)
            while !connection.read().isEmpty {}
            return false
        case .hold:
            while !connection.read().isEmpty {}
            return false
        case .close:
            return false
        }
    }
}
