import Foundation
import NIOConcurrencyHelpers
import ProgramTesting

/// A browser without script: cookies, redirects, forms. Every request has a connection of its own, and every header
/// field can be left out or replaced.
final class Browser: Sendable {
    struct Reply: Sendable {
        let status: Int
        let headers: [String: String]
        let body: Data

        var text: String { String(decoding: body, as: UTF8.self) }
        var location: String? { headers["location"] }

        init(_ data: Data) {
            let separator = data.range(of: Data("\r\n\r\n".utf8)) ?? data.endIndex..<data.endIndex
            let lines = String(decoding: data[..<separator.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
            status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            headers = lines.dropFirst().reduce(into: [:]) { headers, line in
                let parts = line.split(separator: ":", maxSplits: 1)
                if parts.count == 2 { headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces) }
            }
            body = data[separator.upperBound...]
        }
    }

    let port: Int

    var cookie: String? {
        get { state.withLockedValue { $0.cookie } }
        set { state.withLockedValue { $0.cookie = newValue } }
    }

    /// The token of the forms of the last page.
    var formToken: String {
        get { state.withLockedValue { $0.formToken } }
        set { state.withLockedValue { $0.formToken = newValue } }
    }

    private struct State {
        var cookie: String?
        var formToken = ""
    }

    private let state = NIOLockedValueBox(State())

    let authority: String

    /// - Parameter url: The URL that is printed. A browser resolves its host to this computer.
    init(_ url: URL) {
        port = url.port ?? 80
        authority = [url.host, url.port.map(String.init)].compactMap(\.self).joined(separator: ":")
    }

    init(like other: Browser) {
        (port, authority) = (other.port, other.authority)
    }

    /// Sends a request. A field that is `nil` is left out.
    func send(
        _ method: String, _ path: String, _ fields: [String: String?] = [:], body: Data = Data()
    ) async throws -> Reply {
        let connection = try await RawConnection.open(port: port)
        try await connection.send(head(method, path, fields, length: body.count) + body)
        let reply = Reply(await connection.receiveAll())
        if let field = reply.headers["set-cookie"] { cookie = String(field.prefix { $0 != ";" }) }
        if let match = reply.text.firstMatch(of: /name="form-token" value="([0-9a-f]+-[0-9]+)"/) {
            formToken = String(match.1)
        }
        return reply
    }

    private func head(_ method: String, _ path: String, _ fields: [String: String?], length: Int) -> Data {
        var all: [String: String?] = ["Host": authority, "Connection": "close", "Cookie": cookie]
        if method == "POST" {
            all["Content-Length"] = "\(length)"
            // As Chromium sends a form of a page without a referrer.
            all["Sec-Fetch-Site"] = "same-origin"
            all["Origin"] = "null"
        }
        all.merge(fields) { $1 }
        let lines = all.compactMap { name, value in value.map { "\(name): \($0)\r\n" } }
        return Data("\(method) \(path) HTTP/1.1\r\n\(lines.joined())\r\n".utf8)
    }

    /// Loads a page, and follows redirects.
    func open(_ path: String, _ fields: [String: String?] = [:]) async throws -> Reply {
        var reply = try await send("GET", path, fields)
        while reply.status == 303, let location = reply.location { reply = try await send("GET", location, fields) }
        return reply
    }

    /// Sends a form, and follows its redirect.
    func submit(_ path: String, _ values: [String: String] = [:]) async throws -> Reply {
        let reply = try await post(path, values)
        guard reply.status == 303, let location = reply.location else { return reply }
        return try await open(location)
    }

    func post(
        _ path: String, _ values: [String: String] = [:], _ fields: [String: String?] = [:]
    ) async throws -> Reply {
        let unreserved = CharacterSet.alphanumerics
        let pairs = values.merging(["form-token": formToken]) { own, _ in own }.map { name, value in
            "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: unreserved) ?? "")"
        }
        let type: [String: String?] = ["Content-Type": "application/x-www-form-urlencoded"]
        return try await send(
            "POST", path, type.merging(fields) { $1 }, body: Data(pairs.joined(separator: "&").utf8))
    }

    func postGuest(name: String, photo: Data?) async throws -> Reply {
        func part(_ disposition: String, _ content: Data) -> Data {
            Data("--edge\r\nContent-Disposition: form-data; \(disposition)\r\n\r\n".utf8) + content + Data("\r\n".utf8)
        }
        var body = part("name=\"form-token\"", Data(formToken.utf8)) + part("name=\"name\"", Data(name.utf8))
        // A browser sends a field without a file too.
        body += part("name=\"photo\"; filename=\"\(photo == nil ? "" : "ada.jpg")\"", photo ?? Data())
        body += Data("--edge--\r\n".utf8)
        return try await send(
            "POST", "/sign-in/guest", ["Content-Type": "multipart/form-data; boundary=edge"], body: body)
    }

    func events() async throws -> RawConnection {
        let connection = try await RawConnection.open(port: port)
        try await connection.send(head("GET", "/events", [:], length: 0))
        return connection
    }
}
