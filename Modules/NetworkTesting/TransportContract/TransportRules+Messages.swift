import ContractTesting
import Foundation
import NetworkCore

// Heads: what is sent is what was given, and what arrives is what was sent.
extension TransportRules {
    static let messages: [ContractRule<TransportSubject>] = requestHeads + responseHeads

    private static let requestHeads: [ContractRule<TransportSubject>] = [
        rule("method and target arrive as they were given") {
            while $0.readRequest() != nil { $0.respond() }
        } check: { subject, peer in
            guard let url = URL(string: peer.url.absoluteString + "/a%20b/%C3%A9?q=1%2B2&q=x%0D%0Ay") else { return }
            for method: HTTPMethod in [.get, .head, .post, .put, .patch, .delete, .options] {
                _ = try await subject.send(method, url)
                let seen = peer.requests.last.map { "\($0.method) \($0.target)" } ?? "nothing"
                let wanted = "\(method.rawValue) /a%20b/%C3%A9?q=1%2B2&q=x%0D%0Ay"
                try expect(seen == wanted, otherwise: "the server saw \(seen)")
            }
        },
        rule("a field of a request arrives as it was given", responding: emptyResponse) { subject, peer in
            let headers = HTTPHeaders([("X-Plain", "a b"), ("X-Coded", "\u{E9}"), ("Authorization", "Bearer x")])
            _ = try await subject.send(.get, peer.url, headers: headers)
            for (name, value) in headers.map({ ($0.name, $0.value) }) {
                let seen = peer.requests.first?.values(of: name) ?? []
                try expect(seen == [value], otherwise: "\(name) arrived as \(seen)")
            }
        },
        rule("an empty field of a request is sent", responding: emptyResponse) { subject, peer in
            _ = try await subject.send(.get, peer.url, headers: HTTPHeaders([("X-Empty", "")]))
            try expect(peer.requests.first?.values(of: "X-Empty") == [""], otherwise: "it was left out")
        },
        rule("repeated fields of a request stay apart", responding: emptyResponse) { subject, peer in
            let headers = HTTPHeaders([("X-Many", "a"), ("X-Many", "b, c")])
            _ = try await subject.send(.get, peer.url, headers: headers)
            let seen = peer.requests.first?.values(of: "X-Many") ?? []
            try expect(seen == ["a", "b, c"], otherwise: "they arrived as \(seen)")
        },
    ]

    private static let responseHeads: [ContractRule<TransportSubject>] = [
        ContractRule("repeated fields of a response stay apart") { subject in
            let head =
                "HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT\r\nSet-Cookie: b=2\r\n"
            let response = try await subject.response(to: head + "Content-Length: 0\r\n\r\n")
            let values = response.headers.values(of: "Set-Cookie")
            try expect(values.count == 2, otherwise: "there is \(values.count)")
        },
        rule(
            "no cookie is kept", responding: "HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Path=/\r\nContent-Length: 0\r\n\r\n"
        ) { subject, peer in
            for _ in 0..<2 { _ = try await subject.send(.get, peer.url) }
            try expect(peer.requests.allSatisfy { $0["Cookie"] == nil }, otherwise: "the cookie was sent")
        },
        ContractRule("a redirect is the response") { subject in
            for status in [301, 302, 303, 307, 308] {
                let peer = try LoopbackPeer { connection in
                    while let request = connection.readRequest() {
                        guard request.target == "/start" else { return }
                        connection.respond("\(status) Moved", fields: ["Location: /end"], body: Data("body".utf8))
                    }
                }
                defer { peer.stop() }
                let url = peer.url.appendingPathComponent("start")
                let response = try await subject.send(.get, url)
                try expect(response.status == status, otherwise: "\(status) became \(response.status)")
                try expect(response.headers["Location"] == "/end", otherwise: "\(status) has no Location")
                try expect(peer.requests.count == 1, otherwise: "\(status) was followed")
            }
        },
        ContractRule("every status from 200 to 999 is a response") { subject in
            for status in [200, 299, 404, 418, 500, 599, 999] {
                let response = try await subject.response(to: "HTTP/1.1 \(status) Text\r\nContent-Length: 2\r\n\r\nok")
                try expect(response.status == status, otherwise: "\(status) became \(response.status)")
            }
        },
        ContractRule("a status below 100 is invalidResponse") { subject in
            let rests = [
                "Content-Length: 2\r\n\r\nok", "Content-Length: 0\r\n\r\n", "Connection: close\r\n\r\n",
                "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
            ]
            for status in ["000", "001", "042", "099"] {
                for (rest, before) in zip(rests, ["", "", "", "HTTP/1.1 103 Early Hints\r\n\r\n"]) {
                    for method: HTTPMethod in [.get, .head, .post] {
                        try await subject.expectError([.invalidResponse]) {
                            try await subject.response(
                                to: before + "HTTP/1.1 \(status) Text\r\n" + rest, method: method)
                        }
                    }
                }
            }
        },
        rule(
            "a status of more than three digits is an error",
            refusing: ["1000", "2000", "99999999999999999999", "-200", "+200", "20"].map {
                "HTTP/1.1 \($0) Text\r\nContent-Length: 2\r\n\r\nok"
            }),
        ContractRule("a URL whose host or port no server can have is invalidRequest") { subject in
            for text in [
                "http://127.0.0.1:65536/", "http://127.0.0.1:99999/", "http://127.0.0.1:0/", "http://[::1]:99999/",
                "http://127.0.0.1:12345678901234567890/", "http://[::1%25lo0]/", "http://127.0.0.1%00.example.com/",
                "http://" + String(repeating: "a", count: 10_000) + "/", "http://:80/", "http://[]/",
            ] {
                guard let url = URL(string: text) else { continue }
                try await subject.expectError([.invalidRequest]) { try await subject.send(.get, url) }
            }
        },
        rule(
            "a status line without a reason phrase is a response",
            reading: "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", as: "ok"),
        rule("a response of HTTP/1.0 is a response", reading: "HTTP/1.0 200 OK\r\n\r\nok", as: "ok"),
        rule(
            "a response with a status of 1xx is not the response",
            reading: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
                + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
            as: "ok"),
        ContractRule("100,000 bytes of header fields end in a response or an error") { subject in
            try await subject.largeHead(of: 100_000)
        },
        ContractRule("a million bytes of header fields end in a response or an error") { subject in
            try await subject.largeHead(of: 1_000_000)
        },
    ]
}

extension TransportSubject {
    fileprivate func largeHead(of size: Int) async throws {
        let fields = (0..<(size / 1_000)).map { "X-\($0): " + String(repeating: "a", count: 990) + "\r\n" }.joined()
        let peer = try LoopbackPeer { connection in
            guard connection.readRequest() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\n" + fields + "Content-Length: 2\r\n\r\nok")
            connection.waitForClose()
        }
        defer { peer.stop() }
        do {
            let response = try await send(.get, peer.url)
            try expect(response.headers.count >= size / 1_000, otherwise: "\(response.headers.count) fields arrived")
        } catch is HTTPTransportError {
            return
        }
    }
}
