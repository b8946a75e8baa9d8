import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NetworkCore

// Time limits and cancellation.
extension TransportRules {
    static let waits: [ContractRule<TransportSubject>] = limits + cancellations

    private static let limits: [ContractRule<TransportSubject>] = [
        rule("a server that does not respond is timedOut after the idle timeout") { connection in
            _ = connection.readRequest()
            connection.waitForClose()
        } check: { subject, peer in
            for method: HTTPMethod in [.get, .post] {
                try await subject.expectError([.timedOut]) {
                    try await subject.send(method, peer.url) { $0.idleTimeout = TransportSubject.shortTimeout }
                }
            }
        },
        rule("a body that stops is timedOut after the idle timeout") { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            connection.waitForClose()
        } check: { subject, peer in
            try await subject.expectError([.timedOut]) {
                try await subject.send(.get, peer.url) { $0.idleTimeout = TransportSubject.shortTimeout }
            }
        },
        rule("a body that drips for longer than the idle timeout arrives whole") { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")
            for _ in 0..<9 where !connection.isClosed(within: .milliseconds(500)) { connection.send("x") }
        } check: { subject, peer in
            let response = try await subject.send(.get, peer.url) { $0.idleTimeout = .seconds(4) }
            try expect(response.body.count == 9, otherwise: "\(response.body.count) bytes")
        },
        rule("a body that drips is timedOut after the time to the end") { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            while connection.send("x"), !connection.isClosed(within: .milliseconds(20)) {}
        } check: { subject, peer in
            try await subject.expectError([.timedOut]) {
                try await subject.send(.get, peer.url) { $0.timeToEnd = .seconds(2) }
            }
        },
        rule("a server that keeps sending without a head is timedOut after the time to the head") { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\n")
            while connection.send("X-Field: value\r\n"), !connection.isClosed(within: .milliseconds(100)) {}
        } check: { subject, peer in
            try await subject.expectError([.timedOut]) {
                try await subject.send(.get, peer.url) { $0.timeToHead = TransportSubject.shortTimeout }
            }
        },
        rule("a sequence that does not come is timedOut after the time to the head") {
            _ = $0.readRequest()
        } check: { subject, peer in
            let never = Gate()
            try await subject.expectError([.timedOut]) {
                try await subject.send(.post, peer.url, body: waiting(at: never)) { request in
                    request.timeToHead = TransportSubject.shortTimeout
                }
            }
            never.open()
        },
    ]

    private static let cancellations: [ContractRule<TransportSubject>] = [
        rule("a request that is cancelled before it starts is not sent", responding: emptyResponse) { subject, peer in
            let url = peer.url
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await subject.send(.post, url)
            }
            try await subject.expectCancelled(task)
            try expect(peer.requests.isEmpty, otherwise: "it was sent")
        },
        rule("a request whose permit has ended is not sent", responding: emptyResponse) { subject, peer in
            for body in [HTTPBody.none, HTTPBody(Data("x=1".utf8))] {
                for isWithdrawn in [false, true] {
                    let clock = ManualTimeSource()
                    let permit = StartPermit(until: clock.uptime + (isWithdrawn ? .seconds(1) : .zero), on: clock)
                    if isWithdrawn { _ = permit.withdraw() }
                    try await subject.expectError([.notStarted]) {
                        try await subject.send(.post, peer.url, body: body) { request in
                            request.purpose = .refresh
                            request.startPermit = permit
                        }
                    }
                }
            }
            try expect(peer.requests.isEmpty, otherwise: "it was sent")
        },
        ContractRule("a request that is cancelled before its response ends at once") { subject in
            for method: HTTPMethod in [.get, .post] {
                try await expectCancelled(subject) { url, _ in
                    _ = try await subject.send(method, url)
                } serving: { connection, arrived in
                    arrived.open()
                    connection.waitForClose()
                }
            }
        },
        ContractRule("a request that is cancelled in a flood of 1xx responses ends at once") { subject in
            try await expectCancelled(subject) { url, _ in
                _ = try await subject.send(.get, url)
            } serving: { connection, arrived in
                let hints = String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n", count: 100)
                while connection.send(hints) { arrived.open() }
            }
        },
        ContractRule("a request that is cancelled in its body ends at once") { subject in
            try await expectCancelled(subject) { url, arrived in
                for try await _ in try await subject.perform(subject.request(.get, url)).body { arrived.open() }
            } serving: { connection, _ in
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
                connection.waitForClose()
            }
        },
        rule("a request that is cancelled while its body is made ends at once") {
            _ = $0.readRequest()
        } check: { subject, peer in
            let never = Gate()
            let task = Task { try await subject.send(.post, peer.url, body: waiting(at: never)) }
            try await never.arrivals(atLeast: 1)
            task.cancel()
            try await subject.expectCancelled(task)
            never.open()
        },
        ContractRule("a body that is released before its end ends the exchange") { subject in
            let closed = Gate()
            let peer = try LoopbackPeer { connection in
                guard connection.readHead() != nil else { return }
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
                connection.waitForClose()
                closed.open()
            }
            defer { peer.stop() }
            let status = try await subject.perform(subject.request(.get, peer.url)).head.status
            try expect(status == 200, otherwise: "the status is \(status)")
            try await closed.passUnlessCancelled()
        },
    ]

    /// A body whose first piece waits at a gate.
    private static func waiting(at gate: Gate) -> HTTPBody {
        HTTPBody {
            AsyncStream<Data> {
                await gate.pass()
                return nil
            }
        }
    }

    /// Cancels a call once it or its server has opened the gate, and waits until the server has ended.
    private static func expectCancelled(
        _ subject: TransportSubject, _ call: @escaping @Sendable (_ url: URL, _ arrived: Gate) async throws -> Void,
        serving serve: @escaping @Sendable (_ connection: LoopbackConnection, _ arrived: Gate) -> Void
    ) async throws {
        let arrived = Gate()
        let closed = Gate()
        let peer = try LoopbackPeer { connection in
            _ = connection.readRequest()
            serve(connection, arrived)
            closed.open()
        }
        defer { peer.stop() }
        let task = Task { try await call(peer.url, arrived) }
        try await arrived.passUnlessCancelled()
        task.cancel()
        try await subject.expectCancelled(task)
        try await closed.passUnlessCancelled()
    }
}
