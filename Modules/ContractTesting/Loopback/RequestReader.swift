package import Foundation

/// Reads the requests of one connection (RFC 9112).
package struct RequestReader {
    let connection: LoopbackConnection
    let number: Int
    private var buffer = Data()

    /// Creates a reader.
    package init(connection: LoopbackConnection, number: Int) {
        self.connection = connection
        self.number = number
    }

    /// Reads a request without its body. Returns `nil` at the end of the connection.
    package mutating func readHead() -> LoopbackServer.Request? {
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

    /// Adds the body and the fields after it. Returns `nil` when the connection ends first.
    package mutating func readBody(of head: LoopbackServer.Request) -> LoopbackServer.Request? {
        var request = head
        let isChunked = head["Transfer-Encoding"]?.lowercased() == "chunked"
        let length = head["Content-Length"].flatMap { Int($0) } ?? 0
        if isChunked || length > 0, head["Expect"]?.lowercased() == "100-continue" {
            connection.write(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        }
        guard let body = isChunked ? readChunks() : readBytes(length) else { return nil }
        request.body = body
        while isChunked {
            guard let line = readUntil("\r\n") else { return nil }
            guard let trailer = Self.field(line) else { break }
            request.trailers.append(trailer)
        }
        return request
    }

    private mutating func readChunks() -> Data? {
        var body = Data()
        while let line = readUntil("\r\n"), let size = Int(line, radix: 16) {
            if size == 0 { return body }
            guard let chunk = readBytes(size), readUntil("\r\n") != nil else { return nil }
            body += chunk
        }
        return nil
    }

    package mutating func readBytes(_ count: Int) -> Data? {
        while buffer.count < count {
            let piece = connection.read()
            if piece.isEmpty { return nil }
            buffer += piece
        }
        defer { buffer = Data(buffer.dropFirst(count)) }
        return buffer.prefix(count)
    }

    package mutating func readUntil(_ end: String) -> String? {
        let end = Data(end.utf8)
        while true {
            if let range = buffer.range(of: end) {
                let text = String(decoding: buffer[..<range.lowerBound], as: UTF8.self)
                buffer = Data(buffer[range.upperBound...])
                return text
            }
            let piece = connection.read()
            if piece.isEmpty { return nil }
            buffer += piece
        }
    }
}
