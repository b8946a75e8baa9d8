#if AsyncHTTPClient
import AsyncHTTPClient
import AuthInterface
import ContractTesting
import ConcurrencyPrimitives
import Foundation
import NetworkCore
import NetworkURLSession
import TestSupport
import Testing

@testable import NetworkAsyncHTTPClient
@testable import NetworkTesting

/// Which requests share connections, and wait for each other.
@Suite(.timeLimit(.minutes(20))) struct ConnectionTests {
    private static let limits = {
        var limits = AsyncHTTPClientTransport.Limits()
        (limits.connectionsPerOrigin, limits.streamsPerOrigin) = (2, 3)
        return limits
    }()

    private static func request(
        _ url: URL, _ method: HTTPMethod = .get, body: HTTPBody = .none,
        purpose: HTTPTransportRequest.Purpose = .call, context: RequestContext? = nil
    ) -> HTTPTransportRequest {
        HTTPTransportRequest(
            head: HTTPRequestHead(method: method, url: url), body: body, idleTimeout: .seconds(600), purpose: purpose,
            context: context)
    }

    /// A server that leaves requests for `/stalled`, which arrive at a gate, without a response, and sends one without
    /// an end for `/stream`.
    private static func holdingPeer(_ stalled: Gate = Gate(isOpen: true)) throws -> LoopbackPeer {
        try LoopbackPeer { connection in
            while let request = connection.readRequest() {
                switch request.target {
                case "/stalled":
                    Task { await stalled.pass() }
                    return connection.waitForClose()
                case "/stream":
                    connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                    return connection.waitForClose()
                default: connection.respond(body: Data("ok".utf8))
                }
            }
        }
    }

    @Test func `a refresh goes through while calls and streams hold all their connections`() async throws {
        let (stalled, queued) = (Gate(isOpen: true), Gate())
        let peer = try Self.holdingPeer(stalled)
        defer { peer.stop() }
        let transport = AsyncHTTPClientTransport(limits: Self.limits)
        var streams: [HTTPTransportResponse] = []
        let stream = Self.request(peer.url.appendingPathComponent("stream"), purpose: .stream)
        for _ in 0..<3 { streams.append(try await transport.perform(stream)) }
        let call = Self.request(peer.url.appendingPathComponent("stalled"))
        let calls = (0..<2).map { _ in Task { try await transport.perform(call) } }
        // Calls go through although streams hold all their connections.
        try await stalled.arrivals(atLeast: 2)
        var third = Self.request(peer.url)
        third.onEvent = { if $0.kind == .queued { queued.open() } }
        let waiting = Task { [third] in try await transport.perform(third) }
        try await queued.passUnlessCancelled()

        for _ in 0..<3 {
            let response = try await transport.perform(Self.request(peer.url, .post, purpose: .refresh))
            #expect(try await response.body.collect(upTo: 10) == Data("ok".utf8))
        }
        for call in calls + [waiting] { call.cancel() }
        withExtendedLifetime(streams) {}
    }

    @Test(arguments: [true, false])
    func `G28: an application's own client gets no request whose permit has ended`(isInTime: Bool) async throws {
        let peer = try LoopbackPeer(responding: TransportRules.emptyResponse)
        defer { peer.stop() }
        let client = HTTPClient()
        let transport = AsyncHTTPClientTransport(sharing: client)
        let clock = ManualTimeSource()
        let permit = StartPermit(until: clock.uptime + (isInTime ? .seconds(30) : .zero), on: clock)
        var request = Self.request(peer.url, .post)
        request.startPermit = permit
        if isInTime {
            #expect(try await transport.perform(request).head.status == 200)
            #expect(permit.withdraw() == .made)
        } else {
            let error = await #expect(throws: HTTPTransportError.self) { _ = try await transport.perform(request) }
            #expect(error?.code == .notStarted)
        }
        #expect(peer.requests.count == (isInTime ? 1 : 0))
        try await client.shutdown()
    }

    /// Content of a request, whose release shows that nothing holds the request any more.
    private final class Content: Sendable {
        let piece = Data(count: 1_024 * 1_024)
    }

    @Test func `nothing of an upload is left that was cancelled while the server did not read`() async throws {
        let stalled = Gate()
        let end = DispatchSemaphore(value: 0)
        let peer = try LoopbackPeer { connection in
            guard connection.readHead() != nil else { return }
            stalled.open()
            end.wait()
        }
        defer {
            end.signal()
            peer.stop()
        }
        let transport = AsyncHTTPClientTransport()
        weak var released: Content?
        do {
            let content = Content()
            released = content
            let asked = Locked(0)
            let body = HTTPBody(
                once: AsyncStream { [content] in
                    asked.withLock { $0 += 1 }
                    return content.piece
                })
            let request = Self.request(peer.url, .put, body: body)
            let call = Task { try await transport.perform(request) }
            try await stalled.passUnlessCancelled()
            // The sender is held back when it asks for no more.
            var (last, unchanged) = (0, 0)
            while unchanged < 10_000 {
                try Task.checkCancellation()
                await Task.yield()
                let now = asked.withLock { $0 }
                unchanged = now == last && now > 1 ? unchanged + 1 : 0
                last = now
            }
            await expectCancellation(of: call)
        }
        try await until { released == nil }
    }

    /// AsyncHTTPClient ends the process where such a connection closes after the last byte was sent, and before it has
    /// heard of that: see `ResponseLogHandler`.
    @Test(arguments: ["Connection: close\r\n", ""])
    func `a response before the end of its upload, on a closing connection, ends no process`(field: String) async throws
    {
        let (responded, mayClose) = (AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0))
        let peer = try LoopbackPeer { connection in
            guard connection.readHead() != nil, connection.readChunk() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\n\(field)Content-Length: 2\r\n\r\nok")
            responded.continuation.yield()
            mayClose.wait()
        }
        defer { peer.stop() }
        let transport = AsyncHTTPClientTransport()
        for round in 0..<300 {
            let pieces = AsyncStream<Data>.makeStream()
            let request = Self.request(peer.url, .post, body: HTTPBody(once: pieces.stream))
            let call = Task { try await transport.perform(request).body.collect(upTo: 10) }
            pieces.continuation.yield(Data("first".utf8))
            for await _ in responded.stream.prefix(1) {}
            // The end of the body and that of the connection race, with a lead for one of them.
            if round % 3 == 0 { mayClose.signal() }
            if round % 3 == 2 { for _ in 0..<round { await Task.yield() } }
            pieces.continuation.yield(Data("last".utf8))
            pieces.continuation.finish()
            if round % 3 != 0 { mayClose.signal() }
            switch await call.result {
            case .success(let body): #expect(body == Data("ok".utf8))
            case .failure(let error): #expect((error as? HTTPTransportError)?.code == .connectionFailed)
            }
        }
    }

    @Test func `each refresh has a connection of its own, and calls share one`() async throws {
        let peer = try Self.holdingPeer()
        defer { peer.stop() }
        let transport = AsyncHTTPClientTransport()
        for (request, count) in [(Self.request(peer.url, .post, purpose: .refresh), 3), (Self.request(peer.url), 4)] {
            for _ in 0..<3 { _ = try await transport.perform(request).body.collect(upTo: 10) }
            #expect(peer.connectionCount == count)
        }
    }

    @Test func `a call that a server refuses for its connection is sent again over another one`() async throws {
        for transport: any HTTPTransport in [AsyncHTTPClientTransport(), URLSessionTransport()] {
            let peer = try LoopbackPeer { connection in
                let status = connection.number == 0 ? "421 Misdirected Request" : "200 OK"
                while connection.readRequest() != nil { guard connection.respond(status) else { return } }
            }
            defer { peer.stop() }
            let policy = RetryPolicy(attempts: 3, baseDelay: .milliseconds(1))
            let client = NetworkClient(baseURL: peer.url, transport: transport, interceptors: [policy])
            #expect(try await client.send(.request(.get, "x")).status == 200)
            #expect(peer.requests.count == 2 && peer.connectionCount == 2)
        }
    }

    @Test func `a request that gets a connection which has just closed is sent once, over another one`() async throws {
        let peer = try LoopbackPeer { connection in
            // The surplus byte makes the client close the connection.
            while connection.readRequest() != nil {
                guard connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokH") else { return }
            }
        }
        defer { peer.stop() }
        let transport = AsyncHTTPClientTransport(limits: Self.limits)
        // A call with a token shares the kept connections.
        let context = RequestContext(session: SessionID())
        let request = Self.request(peer.url, .post, body: HTTPBody(Data("x".utf8)), context: context)
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<100 {
                        let response = try await transport.perform(request)
                        #expect(try await response.body.collect(upTo: 10) == Data("ok".utf8))
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(peer.requests.count == 400)
    }
}
#endif
