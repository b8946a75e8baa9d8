#if canImport(CryptoKit) || Crypto
import ConcurrencyPrimitives
import Foundation

/// A port of loopback where the first line of HTTP requests is read.
///
/// A browser opens connections that it does not use, and another program may open many: all are read at once, and none
/// keeps the others waiting. Beyond the most that are kept open, the oldest one that has sent no request is closed.
final class LoopbackListener: Sendable {
    /// The most bytes of a request line.
    private static let maximumLineLength = 16 * 1024
    private static let maximumConnections = 32
    /// How often a waiting listener looks whether it is cancelled.
    private static let slice: Int32 = 100
    /// How many ports the system chooses, as one may be free on 127.0.0.1 and taken on ::1.
    private static let maximumChosenPorts = 8

    /// The port where it listens.
    let port: UInt16

    /// A connection that has not sent its first line yet.
    private struct Connection {
        let descriptor: Int32
        var line: [UInt8] = []
    }

    private let sockets: [LoopbackSocket]
    private let clock: any TimeSource
    private let isCancelled = Locked(false)

    /// Listens at the first of the ports that is free on every address of the host. Without ports the system chooses.
    ///
    /// - Throws: ``OAuth2SignInError`` with code `userAgentFailed`, which names the ports.
    init(
        host: String = "127.0.0.1", ports: [UInt16] = [], clock: any TimeSource = SystemTimeSource()
    ) throws(OAuth2SignInError) {
        self.clock = clock
        sockets = try Self.sockets(host, ports)
        port = sockets[0].port
    }

    private static func sockets(_ host: String, _ ports: [UInt16]) throws(OAuth2SignInError) -> [LoopbackSocket] {
        guard let addresses = LoopbackSocket.addresses[host] else {
            throw OAuth2SignInError(
                .userAgentFailed, reason: "the host of the redirect URI must be 127.0.0.1, [::1] or localhost")
        }
        var failures: [String] = []
        for port in ports.isEmpty ? Array(repeating: 0, count: maximumChosenPorts) : ports {
            do {
                return try LoopbackSocket.all(of: addresses, at: port, backlog: Int32(maximumConnections))
            } catch {
                let place = port == 0 ? "any port" : "port \(port)"
                let failure = "\(place) (\(String(cString: strerror(error.code.rawValue))))"
                if !failures.contains(failure) { failures.append(failure) }
            }
        }
        let places = failures.joined(separator: ", ")
        throw OAuth2SignInError(
            .userAgentFailed, reason: "cannot listen on \(host) at \(places); free a port, or register another one")
    }

    /// Waits for a request whose target, such as `/callback?code=…`, is accepted, and responds to every request. The
    /// error code that `refusal` finds in another one is shown on its page, and named where the time ends. It listens
    /// no longer then.
    ///
    /// - Throws: ``OAuth2SignInError`` with code `expired`; `CancellationError`.
    func firstRequest<Result: Sendable>(
        within limit: Duration, refusal: @escaping @Sendable (String) -> String? = { _ in nil },
        accept: @escaping @Sendable (String) -> Result?
    ) async throws -> Result {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // A thread of its own: poll blocks.
                Thread.detachNewThread { [self] in
                    let result = Swift.Result { try wait(within: limit, refusal, accept) }
                    for socket in sockets { socket.stop() }
                    continuation.resume(with: result)
                }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }

    private func wait<Result>(
        within limit: Duration, _ refusal: (String) -> String?, _ accept: (String) -> Result?
    ) throws -> Result {
        // In the order of their arrival.
        var connections: [Connection] = []
        var lastRefusal: String?
        defer { for connection in connections { close(connection.descriptor) } }
        let deadline = clock.uptime + limit
        while clock.uptime < deadline {
            if isCancelled.withLock({ $0 }) { throw CancellationError() }
            // The listening sockets are last: a request that has arrived is read before its connection can be closed.
            let descriptors = sockets.map(\.descriptor)
            var polled = (connections.map(\.descriptor) + descriptors).map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            guard poll(&polled, nfds_t(polled.count), Self.slice) > 0 else { continue }
            for ready in polled where ready.revents != 0 {
                if descriptors.contains(ready.fd) {
                    acceptConnection(from: ready.fd, &connections)
                } else if let line = readLine(ready.fd, &connections) {
                    let target = Self.target(of: line)
                    let result = target.flatMap(accept)
                    let code = result == nil ? target.flatMap(refusal) : nil
                    respond(to: ready.fd, isAccepted: result != nil, refusal: code)
                    if let result { return result }
                    lastRefusal = code ?? lastRefusal
                }
            }
        }
        let hint = lastRefusal.map { "; a response without a state had the error \($0)" } ?? ""
        throw OAuth2SignInError(.expired, reason: "the user did not sign in in time\(hint)")
    }

    private func acceptConnection(from descriptor: Int32, _ connections: inout [Connection]) {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else { return }
        guard fcntl(connection, F_SETFL, O_NONBLOCK) == 0 else {
            close(connection)
            return
        }
        _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
        connections.append(Connection(descriptor: connection))
        if connections.count > Self.maximumConnections { close(connections.removeFirst().descriptor) }
    }

    /// Reads what has arrived. Returns the first line once it is complete, and takes its connection out. A connection
    /// is closed at its end, or if the line is too long.
    private func readLine(_ connection: Int32, _ connections: inout [Connection]) -> String? {
        guard let index = connections.firstIndex(where: { $0.descriptor == connection }) else { return nil }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = read(connection, &bytes, bytes.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return nil }
        guard count > 0, connections[index].line.count + count <= Self.maximumLineLength else {
            connections.remove(at: index)
            close(connection)
            return nil
        }
        connections[index].line += bytes[..<count]
        let line = connections[index].line
        guard let end = line.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        connections.remove(at: index)
        return String(decoding: line[..<end], as: UTF8.self)
    }

    /// The target of a request line: `GET /callback?code=… HTTP/1.1`.
    private static func target(of line: String) -> String? {
        let words = line.trimmingCharacters(in: .whitespacesAndNewlines).split(separator: " ")
        guard words.count == 3, words[0] == "GET", words[1].hasPrefix("/"), words[2].hasPrefix("HTTP/1.") else {
            return nil
        }
        return String(words[1])
    }

    /// Removes the query, which has the code, from the address bar and from the history.
    static let script = #"history.replaceState(null,"",location.pathname)"#
    /// The script may run, and nothing else is loaded: `script-src` has its SHA-256.
    private static let policy = "default-src 'none'; script-src 'sha256-8A+3er73YJf04rRHGhbZwZQACPiiipi9EPduIeAAIDk='"

    /// The response says nothing of the request but an error code, and is not kept: no cache, history or referrer has
    /// the code (G35).
    private static func page(isAccepted: Bool, refusal: String?) -> String {
        let refusal = refusal.map { "The server refused a sign-in: \($0). If it was yours, start it again." }
        let text = isAccepted ? "You can close this window." : refusal ?? "This page is not part of a sign-in."
        let body =
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Sign-in</title><script>\(script)</script>"
            + "<p>\(text)</p></html>"
        return "HTTP/1.1 \(isAccepted ? "200 OK" : "404 Not Found")\r\nContent-Type: text/html; charset=utf-8\r\n"
            + "Content-Length: \(body.utf8.count)\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
            + "Content-Security-Policy: \(policy)\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
            + body
    }

    private func respond(to connection: Int32, isAccepted: Bool, refusal: String?) {
        let response = Self.page(isAccepted: isAccepted, refusal: refusal)
        #if os(Linux)
        let flags = Int32(MSG_NOSIGNAL)
        #else
        var isQuiet: Int32 = 1
        setsockopt(connection, SOL_SOCKET, SO_NOSIGPIPE, &isQuiet, socklen_t(MemoryLayout<Int32>.size))
        let flags: Int32 = 0
        #endif
        // A browser that has closed the connection needs no response.
        _ = send(connection, response, response.utf8.count, flags)
        shutdown(connection, Int32(SHUT_WR))
        // Closing a socket with unread bytes resets the connection, and the browser would lose the response.
        var rest = [UInt8](repeating: 0, count: Self.maximumLineLength)
        _ = read(connection, &rest, rest.count)
        close(connection)
    }
}
#endif
