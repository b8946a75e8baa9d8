import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NetworkCore

// Bodies: whole, or an error.
extension TransportRules {
    static let bodies: [ContractRule<TransportSubject>] = sent + sentTrailers + received + decoded

    /// Responds to each request with its body.
    @Sendable private static func echo(_ connection: LoopbackConnection) {
        while let request = connection.readRequest() { connection.respond(body: request.body) }
    }

    private static let sent: [ContractRule<TransportSubject>] = [
        rule("a body arrives whole and with its length", serving: echo) { subject, peer in
            let content = Data.pattern(1_000_000)
            for method: HTTPMethod in [.post, .put, .patch, .delete] {
                let response = try await subject.send(method, peer.url, body: HTTPBody(content))
                try expect(response.body == content, otherwise: "\(method): \(response.body.count) bytes came back")
                let lengths = peer.requests.last?.values(of: "Content-Length") ?? []
                try expect(lengths == ["1000000"], otherwise: "\(method): the lengths are \(lengths)")
            }
        },
        rule("a sequence arrives whole", serving: echo) { subject, peer in
            let pieces = (0..<50).map { number in Data(repeating: UInt8(number), count: 1_000 * number) }
            let body = HTTPBody { AsyncStream(pieces) }
            let response = try await subject.send(.post, peer.url, body: body)
            try expect(response.body == Data(pieces.joined()), otherwise: "\(response.body.count) bytes came back")
        },
        rule("a sequence of another length than announced is an error", responding: emptyResponse) { subject, peer in
            for length: Int64 in [3, 5] {
                let body = HTTPBody(length: length) { AsyncStream([Data("four".utf8)]) }
                try await subject.expectError([.encodingFailed]) { try await subject.send(.post, peer.url, body: body) }
            }
            try expect(peer.requests.isEmpty, otherwise: "the server took it for a whole body")
        },
        rule("a sequence that fails never looks whole to the server", responding: emptyResponse) { subject, peer in
            let body = HTTPBody {
                AsyncThrowingStream<Data, any Error> { continuation in
                    continuation.yield(Data("half".utf8))
                    continuation.finish(throwing: RuleBroken("of the sequence"))
                }
            }
            try await subject.expectError([.encodingFailed]) { try await subject.send(.post, peer.url, body: body) }
            try expect(peer.requests.isEmpty, otherwise: "the server took it for a whole body")
        },
    ]

    private static let sentTrailers: [ContractRule<TransportSubject>] = [
        rule("trailer fields of a request are sent after its body", responding: emptyResponse) { subject, peer in
            for content in ["", "content"] {
                let isRead = Locked(false)
                var body = HTTPBody {
                    AsyncStream([Data(content.utf8)].filter { !$0.isEmpty }) { isRead.withLock { $0 = true } }
                }
                body.trailers = { HTTPHeaders([("X-Sum", isRead.withLock { $0 } ? "7" : "early"), ("X-Two", "b")]) }
                let head = HTTPHeaders([("X-Field", "a")])
                _ = try await subject.send(.put, peer.url, headers: head, body: body)
                let request = peer.requests.last
                try expect(request?.body == Data(content.utf8), otherwise: "the body did not arrive whole")
                let seen = request?.trailers.map { "\($0.name): \($0.value)" } ?? []
                try expect(seen == ["X-Sum: 7", "X-Two: b"], otherwise: "the trailers arrived as \(seen)")
                let surplus = request?.headers.map(\.name.localizedLowercase).filter { $0.contains("latchkey") } ?? []
                try expect(surplus.isEmpty, otherwise: "the head has \(surplus)")
            }
            try expect(peer.requests.count == 2, otherwise: "the server saw \(peer.requests.count) requests")
        },
        rule(
            "trailer fields that cannot be made leave the request unfinished", responding: emptyResponse
        ) { subject, peer in
            var body = HTTPBody(Data("content".utf8))
            body.trailers = { throw RuleBroken("of the trailers") }
            try await subject.expectError([.encodingFailed]) { try await subject.send(.post, peer.url, body: body) }
            try expect(peer.requests.isEmpty, otherwise: "the server took it for a whole request")
        },
    ]

    private static let received: [ContractRule<TransportSubject>] = [
        rule(
            "a chunked body arrives whole",
            reading: [("2\r\nab\r\n3;x=y\r\ncde\r\n0\r\n\r\n", "abcde"), ("0\r\n\r\n", "")].map {
                (Data((chunkedHead + $0).utf8), $1)
            }),
        rule("a body without a length ends with the connection", reading: "HTTP/1.1 200 OK\r\n\r\nabc", as: "abc"),
        ContractRule("204, 304 and the response to HEAD have no body, whatever length they name") { subject in
            for (status, method) in [("204 None", HTTPMethod.get), ("304 Same", .get), ("200 OK", .head)] {
                let peer = try LoopbackPeer { connection in
                    while connection.readRequest() != nil {
                        connection.send("HTTP/1.1 \(status)\r\nContent-Length: 1000\r\n\r\n")
                    }
                }
                defer { peer.stop() }
                let response = try await subject.send(method, peer.url)
                try expect(response.body.isEmpty, otherwise: "\(status): \(response.body.count) bytes")
            }
        },
        rule("trailer fields after a body do no harm to it", reading: withTrailer, as: "abc"),
        rule("trailer fields are in the completion", responding: withTrailer) { subject, peer in
            let response = try await subject.perform(subject.request(.get, peer.url))
            _ = try await response.body.collect(upTo: .max)
            let trailers = try await response.completion().trailers
            try expect(trailers["X-Sum"] == "7", otherwise: "they are \(trailers)")
        },
        rule("a second reader of a body gets an error") { connection in
            while connection.readRequest() != nil { connection.respond(body: Data("body".utf8)) }
        } check: { subject, peer in
            let response = try await subject.perform(subject.request(.get, peer.url))
            _ = try await response.body.collect(upTo: .max)
            do {
                _ = try await response.body.collect(upTo: .max)
            } catch let error as HTTPBodyError {
                return try expect(error.code == .alreadyRead, otherwise: "the code is \(error.code)")
            }
            throw RuleBroken("it read the body")
        },
    ]

    private static let withTrailer =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 7\r\n\r\n"

    private static func encoded(_ coding: String, _ body: Data) -> Data {
        Data("HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
    }

    private static let hello = "hello hello hello"

    private static let decoded: [ContractRule<TransportSubject>] = [
        rule(
            "gzip and deflate are decoded, identity is left as it is",
            reading: [
                ("gzip", Data.gzipped), ("x-gzip", .gzipped), ("GZIP", .gzipped), ("deflate", .deflated),
                ("identity", Data(hello.utf8)),
            ].map { (encoded($0, $1), hello) }),
        rule(
            "gzip of several members is decoded",
            reading: [
                (encoded("gzip", Data.members), hello), (encoded("gzip", Data.members + .gzipped), hello + hello),
            ]),
        rule(
            "deflate without the format of zlib is decoded", reading: [(encoded("deflate", .bareDeflated), hello)]),
        ContractRule("a response without a body may name a coding") { subject in
            for (status, method) in [("204 None", HTTPMethod.get), ("304 Same", .get), ("200 OK", .head)] {
                let text = "HTTP/1.1 \(status)\r\nContent-Encoding: gzip\r\n\r\n"
                let response = try await subject.response(to: text, method: method)
                try expect(response.body.isEmpty, otherwise: "\(status): \(response.body.count) bytes")
            }
        },
        ContractRule("a compressed body that is cut short is an error") { subject in
            try await subject.expectError { try await subject.response(to: encoded("gzip", Data.gzipped.dropLast(12))) }
        },
        ContractRule("a compressed body that is damaged is invalidResponse") { subject in
            var wrongSum = Data.gzipped
            wrongSum[wrongSum.count - 8] ^= 1
            var wrongBlock = Data.gzipped
            wrongBlock[10] = 7
            let bodies = [("gzip", Data("not compressed".utf8)), ("gzip", wrongSum), ("gzip", wrongBlock)]
            for (coding, bytes) in bodies {
                try await subject.expectError([.invalidResponse]) {
                    try await subject.response(to: encoded(coding, bytes))
                }
            }
        },
    ]
}

extension AsyncStream<Data> {
    init(_ pieces: [Data]) {
        self.init { continuation in
            for piece in pieces { continuation.yield(piece) }
            continuation.finish()
        }
    }

    /// The pieces, and a closure that is called when all of them have been read.
    fileprivate init(_ pieces: [Data], whenRead: @escaping @Sendable () -> Void) {
        let rest = Locked(pieces[...])
        self.init(unfolding: {
            let piece = rest.withLock { $0.popFirst() }
            if piece == nil { whenRead() }
            return piece
        })
    }
}

extension Data {
    /// `hello hello hello`, as gzip and as zlib write it.
    fileprivate static let gzipped = Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJV8hAkACAiPnlEQAAAA==") ?? Data()
    fileprivate static let deflated = Data(base64Encoded: "eJzLSM3JyVfIQJAAOi4GfQ==") ?? Data()
    fileprivate static let bareDeflated = Data(base64Encoded: "y0jNyclXyECQAA==") ?? Data()

    /// `hello `, nothing and `hello hello`, each as a member (RFC 1952 §2.2).
    static let members =
        Data(
            base64Encoded: "H4sIAAAAAAACA8tIzcnJVwAA9vmB7QYAAAAfiwgAAAAAAAIDAwAAAAAAAAAAAB+L"
                + "CAAAAAAAAgPLSM3JyVfIAJEAQKYtAQsAAAA=") ?? Data()
}
