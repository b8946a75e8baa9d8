package import Foundation

/// A connection of a ``LoopbackPeer``, used on the thread of its script. It reads requests of HTTP/1.1 (RFC 9112).
package final class LoopbackConnection {
    /// Counts the connections of the peer, from 0.
    package let number: Int

    private let descriptor: Int32
    private let peer: LoopbackPeer
    private var buffer = Data()

    init(_ descriptor: Int32, number: Int, peer: LoopbackPeer) {
        self.descriptor = descriptor
        self.number = number
        self.peer = peer
    }

    // MARK: Reading

    /// Waits for a request with its body. Returns `nil` when the connection ends first.
    package func readRequest() -> LoopbackServer.Request? {
        guard var request = readHead() else { return nil }
        let isChunked = request["Transfer-Encoding"]?.lowercased() == "chunked"
        let length = request["Content-Length"].flatMap { Int($0) } ?? 0
        if isChunked || length > 0, request["Expect"]?.lowercased() == "100-continue" {
            send("HTTP/1.1 100 Continue\r\n\r\n")
        }
        guard let body = isChunked ? readChunks() : readBytes(length) else { return nil }
        request.body = body
        while isChunked {
            guard let line = readUntil("\r\n") else { return nil }
            guard let trailer = Self.field(line) else { break }
            request.trailers.append(trailer)
        }
        peer.record(request)
        return request
    }

    /// Waits for a request without its body. Returns `nil` at the end of the connection.
    package func readHead() -> LoopbackServer.Request? {
        guard let text = readUntil("\r\n\r\n") else { return nil }
        var lines = text.components(separatedBy: "\r\n")
        let start = lines.removeFirst().components(separatedBy: " ")
        guard start.count == 3 else { return nil }
        let headers = lines.compactMap(Self.field)
        return LoopbackServer.Request(method: start[0], target: start[1], headers: headers, connection: number)
    }

    private static func field(_ line: String) -> (name: String, value: String)? {
        guard let colon = line.firstIndex(of: ":") else { return nil }
        let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        return (String(line[..<colon]), value)
    }

    private func readChunks() -> Data? {
        var body = Data()
        while let chunk = readChunk() {
            if chunk.isEmpty { return body }
            body += chunk
        }
        return nil
    }

    /// Waits for a chunk of a body. It is empty at the end of the body, before the trailer fields.
    package func readChunk() -> Data? {
        guard let size = readUntil("\r\n").flatMap({ Int($0, radix: 16) }) else { return nil }
        if size == 0 { return Data() }
        guard let chunk = readBytes(size), readUntil("\r\n") != nil else { return nil }
        return chunk
    }

    package func readBytes(_ count: Int) -> Data? {
        while buffer.count < count { guard receive() else { return nil } }
        defer { buffer = Data(buffer.dropFirst(count)) }
        return buffer.prefix(count)
    }

    private func readUntil(_ end: String) -> String? {
        let end = Data(end.utf8)
        while true {
            if let range = buffer.range(of: end) {
                let text = String(decoding: buffer[..<range.lowerBound], as: UTF8.self)
                buffer = Data(buffer[range.upperBound...])
                return text
            }
            guard receive() else { return nil }
        }
    }

    /// Adds the next bytes to the buffer. Returns `false` at the end of the connection.
    private func receive() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        if count > 0 { buffer += bytes[..<count] }
        return count > 0
    }

    /// Waits until the client closes the connection.
    package func waitForClose() { while receive() { buffer = Data() } }

    /// Waits until the client has closed the connection, for a time at most. Bytes that have arrived end the wait.
    package func isClosed(within limit: Duration) -> Bool {
        var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&event, 1, Int32(limit / .milliseconds(1))) > 0 else { return false }
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK)) <= 0
    }

    // MARK: Writing

    /// Writes all bytes. Returns `false` when the client has closed the connection.
    @discardableResult
    package func send(_ data: Data) -> Bool { sendBytes(data, to: descriptor) }

    /// Writes the bytes of a text.
    @discardableResult
    package func send(_ text: String) -> Bool { send(Data(text.utf8)) }

    /// Sends a response with a length.
    @discardableResult
    package func respond(_ status: String = "200 OK", fields: [String] = [], body: Data = Data()) -> Bool {
        let head = (["HTTP/1.1 \(status)", "Content-Length: \(body.count)"] + fields).joined(separator: "\r\n")
        return send(Data((head + "\r\n\r\n").utf8) + body)
    }

    /// Sends a chunk of a body.
    @discardableResult
    package func sendChunk(_ data: Data) -> Bool {
        send(Data("\(String(data.count, radix: 16))\r\n".utf8) + data + Data("\r\n".utf8))
    }

    /// Makes the end of the script reset the connection: the client loses what it has not read.
    package func resetWhenClosed() {
        var lingering = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &lingering, socklen_t(MemoryLayout<linger>.size))
    }
}
