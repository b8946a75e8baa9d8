import ConcurrencyPrimitives
package import Foundation

/// An HTTP/1.1 server on a free loopback port. A closure scripts its responses, including invalid ones.
package final class LoopbackServer: Sendable {
    /// A request as it arrived.
    package struct Request: Sendable {
        package let method: String
        package let target: String
        package let headers: [(name: String, value: String)]
        package internal(set) var body = Data()
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
        var isStopped = false
    }

    package let url: URL
    private let listener: LoopbackListener
    private let state = Locked(State())
    private let script: @Sendable (Request) -> Action

    /// Starts a server.
    ///
    /// - Parameter script: Decides what to do with a request. It runs on the connection's thread and may block it.
    /// - Throws: `POSIXError` when no socket is available.
    package init(_ script: @escaping @Sendable (Request) -> Action) throws {
        listener = try LoopbackListener()
        guard let url = URL(string: "http://127.0.0.1:\(listener.port)") else { throw URLError(.badURL) }
        self.url = url
        self.script = script
        let thread = Thread { [self] in acceptConnections() }
        thread.start()
    }

    /// The whole requests so far, in order of their arrival.
    package var requests: [Request] { state.withLock { $0.requests } }

    /// The number of connections so far.
    package var connectionCount: Int { state.withLock { $0.connectionCount } }

    /// Closes all connections and the port.
    package func stop() {
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
                let number = state.connectionCount
                state.connectionCount += 1
                state.connections[number] = connection
                return number
            }
            guard let number else { return connection.close() }  // by `stop`
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
            // Under the lock: `stop` must not shut down a descriptor that the system has given to another file.
            connection.close()
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
