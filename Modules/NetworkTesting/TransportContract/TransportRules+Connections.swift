import ContractTesting
import Foundation
import NetworkCore

// Connections that are kept, and those that a server closes.
extension TransportRules {
    static let connections: [ContractRule<TransportSubject>] = [
        rule("requests that follow each other share a connection") {
            while $0.readRequest() != nil { $0.respond(body: Data("ok".utf8)) }
        } check: { subject, peer in
            for _ in 0..<20 { _ = try await subject.send(.get, peer.url) }
            try expect(peer.connectionCount < 4, otherwise: "there were \(peer.connectionCount)")
        },
        rule("a POST after the server has closed the kept connection succeeds") { connection in
            guard connection.readRequest() != nil else { return }
            connection.respond()
        } check: { subject, peer in
            for _ in 0..<10 {
                let response = try await subject.send(.post, peer.url, body: HTTPBody(Data("x".utf8)))
                try expect(response.status == 200, otherwise: "the status is \(response.status)")
            }
            try expect(peer.requests.count == 10, otherwise: "the server saw \(peer.requests.count) requests")
        },
        rule("a POST is sent once when the server closes without a response") { connection in
            while let request = connection.readRequest() {
                guard request.method == "GET" else { return }
                connection.respond()
            }
        } check: { subject, peer in
            for body in [HTTPBody.none, HTTPBody(Data("x".utf8))] {
                _ = try await subject.send(.get, peer.url)
                try await subject.expectError([.connectionFailed]) {
                    try await subject.send(.post, peer.url, body: body)
                }
            }
            let count = peer.requests.filter { $0.method == "POST" }.count
            try expect(count == 2, otherwise: "two requests arrived \(count) times")
        },
        rule("a connection on which a response broke off is not used again") { connection in
            while let request = connection.readRequest() {
                guard request.target == "/bad" else {
                    connection.respond(body: Data("good".utf8))
                    continue
                }
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nX: smuggled\r\n")
            }
        } check: { subject, peer in
            _ = try? await subject.send(.get, peer.url.appendingPathComponent("bad"))
            for _ in 0..<3 {
                let response = try await subject.send(.get, peer.url.appendingPathComponent("good"))
                let isClean = response.headers["X"] == nil && response.body == Data("good".utf8)
                try expect(isClean, otherwise: "a later request got what was left over")
            }
        },
        rule("a connection on which a 408 has arrived is not used again") {
            while $0.readRequest() != nil { $0.respond("408 Request Timeout") }
        } check: { subject, peer in
            for _ in 0..<3 { _ = try await subject.send(.get, peer.url) }
            try expect(peer.connectionCount > 2, otherwise: "there were \(peer.connectionCount)")
        },
        rule("a second response to one request is not the response to the next") { connection in
            let surplus = "HTTP/1.1 200 OK\r\nX: smuggled\r\nContent-Length: 8\r\n\r\nsmuggled"
            while let request = connection.readRequest() {
                let text = "\(request.target)"
                switch request.target {
                case "/length": connection.send("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n\(text)" + surplus)
                case "/chunks":
                    connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                    connection.send("7\r\n\(text)\r\n0\r\n\r\n" + surplus)
                case "/large":
                    let body = Data.pattern(1_000_000)
                    connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n")
                    connection.send(body + Data(surplus.utf8))
                default: connection.respond(body: Data(text.utf8))
                }
            }
        } check: { subject, peer in
            for (path, method) in [("length", HTTPMethod.get), ("chunks", .post), ("large", .get), ("length", .head)] {
                _ = try? await subject.send(method, peer.url.appendingPathComponent(path))
                for number in 0..<3 {
                    let url = peer.url.appendingPathComponent("\(number)")
                    let response = try await subject.send(.post, url)
                    let isRight = response.headers["X"] == nil && response.body == Data("/\(number)".utf8)
                    try expect(isRight, otherwise: "a request after \(method) \(path) got what was left over")
                }
            }
        },
        ContractRule("bytes on a kept connection without a request are not the response to the next") { subject in
            let sent = Gate()
            let peer = try LoopbackPeer { connection in
                while let request = connection.readRequest() {
                    connection.respond(body: Data(request.target.utf8))
                    guard request.target == "/first" else { continue }
                    // The client has time to keep the connection, and to notice what comes on it then.
                    guard !connection.isClosed(within: .milliseconds(200)) else { break }
                    // The response to the next request would go on here.
                    connection.send("HTTP/1.1 200 OK\r\nX: ")
                    _ = connection.isClosed(within: .milliseconds(200))
                    sent.open()
                }
            }
            defer { peer.stop() }
            _ = try await subject.send(.get, peer.url.appendingPathComponent("first"))
            try await sent.passUnlessCancelled()
            for number in 0..<3 {
                let url = peer.url.appendingPathComponent("\(number)")
                let response = try await subject.send(.get, url)
                let isRight = response.headers["X"] == nil && response.body == Data("/\(number)".utf8)
                try expect(isRight, otherwise: "request \(number) got what was left over")
            }
        },
        rule("1,000 requests at once get their own responses") { connection in
            while let request = connection.readRequest() { connection.respond(body: Data(request.target.utf8)) }
        } check: { subject, peer in
            for method: HTTPMethod in [.get, .post] {
                let right = await withTaskGroup(of: Bool.self) { group in
                    for number in 0..<1_000 {
                        group.addTask {
                            let url = peer.url.appendingPathComponent("\(number)")
                            let body = method == .post ? HTTPBody(Data("x".utf8)) : .none
                            let response = try? await subject.send(method, url, body: body)
                            return response?.body == Data("/\(number)".utf8)
                        }
                    }
                    return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
                try expect(right == 1_000, otherwise: "\(method): \(right) did")
            }
            try expect(peer.requests.count == 2_000, otherwise: "the server saw \(peer.requests.count) requests")
        },
    ]
}
