import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NetworkCore

// Both directions at once, and readers that are slow.
extension TransportRules {
    /// Responses that come before the request is sent: the parts that a server sends one by one, and the body.
    private static let earlyResponses: [(parts: [String], body: String)] = {
        let head = "HTTP/1.1 413 Too Large\r\nConnection: close\r\n"
        return [
            ([head + "Content-Length: 2\r\n\r\nno"], "no"), ([head + "Content-Length: 0\r\n\r\n"], ""),
            ([head + "Transfer-Encoding: chunked\r\n\r\n", "2\r\nno\r\n", "0\r\n\r\n"], "no"),
        ]
    }()

    static let streaming: [ContractRule<TransportSubject>] = [
        ContractRule("a response that arrives before the body was sent is the response") { subject in
            for early in earlyResponses {
                try await expectRefusal(early, of: HTTPBody(Data(count: 32 * 1_024 * 1_024)), subject)
            }
        },
        ContractRule("a sequence that has not ended does not hold a response back") { subject in
            for early in earlyResponses {
                let pieces = AsyncStream<Data>.makeStream()
                pieces.continuation.yield(Data("first".utf8))
                try await expectRefusal(early, of: HTTPBody(once: pieces.stream), subject)
                pieces.continuation.finish()
            }
        },
        rule("a response is read while its request is sent") { connection in
            guard connection.readHead() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            while let chunk = connection.readChunk() {
                guard !chunk.isEmpty else { break }
                connection.sendChunk(chunk)
            }
            connection.send("0\r\n\r\n")
            connection.waitForClose()
        } check: { subject, peer in
            let pieces = AsyncStream<Data>.makeStream()
            pieces.continuation.yield(Data("piece 0".utf8))
            let body = HTTPBody(once: pieces.stream)
            let response = try await subject.perform(subject.request(.post, peer.url, body: body))
            var echoed = 0
            for try await piece in response.body {
                try expect(piece == Data("piece \(echoed)".utf8), otherwise: "a wrong piece came back")
                echoed += 1
                if echoed == 20 { pieces.continuation.finish() }
                pieces.continuation.yield(Data("piece \(echoed)".utf8))
            }
            try expect(echoed == 20, otherwise: "\(echoed) pieces came back")
        },
        ContractRule("a server waits for a reader that does not read") { subject in
            let sent = Locked(0)
            let total = 256 * 1_024 * 1_024
            let peer = try LoopbackPeer { connection in
                guard connection.readRequest() != nil else { return }
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n")
                let piece = Data(count: 1_024 * 1_024)
                for _ in 0..<(total / piece.count) {
                    guard connection.send(piece) else { return }
                    sent.withLock { $0 += piece.count }
                }
            }
            defer { peer.stop() }
            let response = try await subject.perform(subject.request(.get, peer.url))
            // As long as the number grows while others are served, the server is not waiting yet.
            let others = try LoopbackPeer(responding: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            defer { others.stop() }
            var (seen, unchanged) = (-1, 0)
            while unchanged < 4 {
                let now = sent.withLock { $0 }
                (seen, unchanged) = (now, now == seen ? unchanged + 1 : 0)
                for _ in 0..<100 { _ = try await subject.send(.get, others.url) }
            }
            try expect(
                seen < total / 2, otherwise: "\(seen) of \(total) bytes were sent to a reader that does not read")
            var count = 0
            for try await piece in response.body { count += piece.count }
            try expect(count == total, otherwise: "\(count) of \(total) bytes could be read then")
        },
        rule("a body that is not read does not keep others waiting") { connection in
            while connection.readRequest() != nil { connection.respond(body: Data(count: 1_000_000)) }
        } check: { subject, peer in
            for _ in 0..<200 {
                let response = try await subject.perform(subject.request(.get, peer.url))
                try expect(response.head.status == 200, otherwise: "the status is \(response.head.status)")
                var iterator = response.body.makeAsyncIterator()
                _ = try await iterator.next()
            }
        },
    ]

    /// Sends a body to a server that refuses it before it has read it. The server sends each part of its response when
    /// the one before it has been read.
    private static func expectRefusal(
        _ early: (parts: [String], body: String), of body: HTTPBody, _ subject: TransportSubject
    ) async throws {
        let next = DispatchSemaphore(value: 1)
        let peer = try LoopbackPeer { connection in
            guard connection.readHead() != nil else { return }
            for part in early.parts {
                next.wait()
                connection.send(part)
            }
            connection.waitForClose()
        }
        defer {
            for _ in early.parts { next.signal() }
            peer.stop()
        }
        let response = try await subject.perform(subject.request(.post, peer.url, body: body))
        try expect(response.head.status == 413, otherwise: "the status is \(response.head.status)")
        next.signal()
        var received = Data()
        for try await piece in response.body {
            received += piece
            next.signal()
        }
        try expect(received == Data(early.body.utf8), otherwise: "the body has \(received.count) bytes")
    }
}
