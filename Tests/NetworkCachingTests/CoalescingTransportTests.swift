import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NetworkCore
import TestSupport
import Testing

@testable import NetworkCaching

@Suite("CoalescingTransport", .timeLimit(.minutes(10)))
struct CoalescingTransportTests {
    let gate = Gate()
    let clock = ManualTimeSource()

    func request(
        _ headers: HTTPHeaders = [:], path: String = "x", method: HTTPMethod = .get, session: String? = nil,
        purpose: HTTPTransportRequest.Purpose = .call, within limit: Duration = .seconds(60)
    ) -> HTTPTransportRequest {
        let context = RequestContext(session: session.map { SessionID(rawValue: $0) }, clock: clock)
        return HTTPTransportRequest(
            head: HTTPRequestHead(method: method, url: url("https://a.example/\(path)"), headers: headers),
            timeToHead: limit, timeToEnd: limit, purpose: purpose, context: context)
    }

    /// Sends requests while each exchange waits at the gate.
    ///
    /// - Returns: The number of exchanges.
    func exchanges(of requests: [HTTPTransportRequest], status: Int = 200, limit: Int = 5_000) async throws -> Int {
        let gate = gate
        let exchanges = ScriptedExchanges { _, _ in
            await gate.pass()
            return .scripted(status, body: Data(count: 100))
        }
        let transport = CoalescingTransport(exchanges, maximumSharedSize: limit)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for request in requests {
                group.addTask {
                    let response = try await transport.perform(request)
                    #expect(try await response.body.collect(upTo: 100).count == 100)
                    return response.head.status
                }
            }
            // Each has joined an exchange, or sends one that nothing can join.
            try await until {
                transport.waiting == requests.count || exchanges.requests.values.count == requests.count
            }
            gate.open()
            for try await seen in group { #expect(seen == status) }
        }
        return exchanges.requests.values.count
    }

    @Test(arguments: [(20, 200, 5_000, 1), (5, 404, 5_000, 1), (3, 200, 99, 3)])
    func `equal requests under way are sent once, unless the body is over the limit`(
        requests: Int, status: Int, limit: Int, count: Int
    ) async throws {
        let requests = Array(repeating: request(), count: requests)
        #expect(try await exchanges(of: requests, status: status, limit: limit) == count)
    }

    @Test func `another URL, field or session is another request`() async throws {
        let requests = [
            request(), request(path: "y"), request(["Accept": "a/b"]), request(session: "a"), request(session: "b"),
        ]
        #expect(try await exchanges(of: requests) == 5)
    }

    @Test(arguments: [
        (HTTPTransportRequest.Purpose.call, 1), (.stream, 3), (.refresh, 3),
    ])
    func `only calls are joined`(purpose: HTTPTransportRequest.Purpose, count: Int) async throws {
        #expect(try await exchanges(of: (0..<3).map { _ in request(purpose: purpose) }) == count)
    }

    @Test(arguments: [("traceparent", 1), ("Tracestate", 1), ("X-Request-ID", 1), ("Accept", 3)])
    func `fields that name a request do not tell requests apart`(name: String, count: Int) async throws {
        #expect(try await exchanges(of: (0..<3).map { request([name: "\($0)"]) }) == count)
    }

    @Test(arguments: [("PUT", 200, 2), ("POST", 500, 2), ("DELETE", 0, 2), ("HEAD", 200, 1), ("OPTIONS", 200, 1)])
    func `a request after an unsafe one does not join an exchange from before its end`(
        method: String, status: Int, count: Int
    ) async throws {
        let gate = gate
        let exchanges = ScriptedExchanges { request, _ in
            if request.head.method == .get { await gate.pass() }
            if status == 0 { throw HTTPTransportError(.connectionFailed, reason: "the connection was lost") }
            return .scripted(status)
        }
        let transport = CoalescingTransport(exchanges)
        let first = Task { try? await transport.perform(request()).head.status }
        await gate.arrivals(atLeast: 1)
        _ = try? await transport.perform(request(method: HTTPMethod(rawValue: method)))
        let second = Task { try? await transport.perform(request()).head.status }
        try await until { transport.waiting == 2 }
        gate.open()
        _ = (await first.value, await second.value)
        #expect(exchanges.requests.values.filter { $0.head.method == .get }.count == count)
    }

    /// Responds at once, with a body that waits at the gate.
    func slow(_ text: String = "slow", endsInTime: Bool) -> ScriptedExchanges {
        ScriptedExchanges(endsInTime: endsInTime) { [gate] _, _ in
            let rest = Locked([text])
            let body = HTTPBody(pull: {
                try await gate.passUnlessCancelled()
                return rest.withLock { $0.popLast() }.map { Data($0.utf8) }
            })
            return HTTPTransportResponse(head: HTTPResponseHead(status: 200), body: body)
        }
    }

    func client(_ transport: CoalescingTransport) -> NetworkClient {
        NetworkClient(configuration: NetworkConfiguration(baseURL: baseURL), transport: transport, clock: clock)
    }

    /// Lets time pass in steps until a call has ended: a clock that jumps shows a process that slept, and deadlines
    /// wait.
    func pass(until call: Task<Data, any Error>, atMost limit: Duration) async throws {
        let ended = Locked(false)
        let watch = Task {
            _ = await call.result
            ended.withLock { $0 = true }
        }
        let end = clock.uptime + limit
        try await until {
            if clock.uptime < end { clock.advance(by: .milliseconds(500)) }
            for _ in 0..<100 { await Task.yield() }
            return ended.withLock { $0 }
        }
        await watch.value
    }

    // The head is handed over at the deadline, so the error names the wait for the head or the one for the body.

    @Test(arguments: [true, false])
    func `while a body arrives, the client keeps the deadline`(endsInTime: Bool) async throws {
        let client = client(CoalescingTransport(slow(endsInTime: endsInTime)))
        let call = Task { try await client.send(Endpoint<Data>.get("x")) }
        await gate.arrivals(atLeast: 1)
        try await pass(until: call, atMost: .seconds(100))
        let error = try await #require(throws: NetworkError.self) { try await call.value }
        #expect(error.code == .timedOut)
    }

    @Test(arguments: [true, false])
    func `a call with a deadline of its own ends at it while its body arrives`(endsInTime: Bool) async throws {
        let transport = CoalescingTransport(slow(endsInTime: endsInTime))
        let client = client(transport)
        let call = Task { try await client.send(Endpoint<Data>.get("x"), deadline: .seconds(10)) }
        await gate.arrivals(atLeast: 1)
        let other = Task { try await client.send(Endpoint<Data>.get("x")) }
        try await until { transport.waiting == 2 }
        try await pass(until: call, atMost: .seconds(30))
        let error = try await #require(throws: NetworkError.self) { try await call.value }
        #expect(error.code == .timedOut)
        gate.open()
        #expect(try await other.value == Data("slow".utf8))
    }

    @Test func `the last caller that does not read its body cancels the exchange`() async throws {
        let cancelled = Gate()
        let exchanges = ScriptedExchanges { [gate] _, _ in
            let body = HTTPBody(pull: {
                do { try await gate.passUnlessCancelled() } catch { cancelled.open() }
                return nil
            })
            return HTTPTransportResponse(head: HTTPResponseHead(status: 200), body: body)
        }
        let transport = CoalescingTransport(exchanges)
        let call = Task { try await transport.perform(request()).head.status }
        await gate.arrivals(atLeast: 1)
        await clock.sleepers(atLeast: 1)
        clock.advance(by: .seconds(60))
        #expect(try await call.value == 200)
        await cancelled.pass()
    }

    @Test func `a body that is not shared reaches the first caller after its time to the head`() async throws {
        let transport = CoalescingTransport(slow("too long", endsInTime: false), maximumSharedSize: 2)
        let heads = Locked(0)
        @Sendable func body() async throws -> Data {
            let response = try await transport.perform(request())
            heads.withLock { $0 += 1 }
            return try await response.body.collect(upTo: 100)
        }
        let first = Task { try await body() }
        await gate.arrivals(atLeast: 1)
        let second = Task { try await body() }
        await clock.sleepers(atLeast: 2)
        clock.advance(by: .seconds(60))
        try await until { heads.withLock { $0 } == 2 }
        gate.open()
        #expect(try await first.value == Data("too long".utf8))
        let error = try await #require(throws: HTTPTransportError.self) { try await second.value }
        #expect(error.code == .timedOut && error.waitedFor == .responseBody)
    }

    @Test func `the limits of the first caller are not those of the exchange`() async throws {
        let exchanges = ScriptedExchanges(endsInTime: true) { _, _ in .scripted() }
        let transport = CoalescingTransport(exchanges)
        #expect(!transport.endsInTime)
        _ = try await transport.perform(request(within: .seconds(5)))
        #expect(exchanges.requests.values.map(\.timeToHead) == [nil])
        #expect(exchanges.requests.values.map(\.timeToEnd) == [nil])
    }

    @Test(arguments: [(Duration.seconds(20), Duration.seconds(40)), (.seconds(59), .seconds(1))])
    func `a request of its own has the time that its wait has left`(waited: Duration, left: Duration) async throws {
        let gate = gate
        let exchanges = ScriptedExchanges { _, _ in
            await gate.pass()
            return .scripted(200, [:], body: Data(count: 100))
        }
        let transport = CoalescingTransport(exchanges, maximumSharedSize: 10)
        let callers = (0..<2).map { _ in
            Task { try await transport.perform(request()).head.status }
        }
        await gate.arrivals(atLeast: 1)
        try await until { transport.waiting == 2 }
        clock.advance(by: waited)
        gate.open()
        for caller in callers { #expect(try await caller.value == 200) }
        #expect(exchanges.requests.values.map(\.timeToHead) == [nil, left])
        #expect(exchanges.requests.values.map(\.timeToEnd) == [nil, left])
    }

    /// Responds at once, with a body that ends when the gate opens.
    private func slowBody(_ headers: HTTPHeaders = [:]) -> CoalescingTransport {
        let body = HTTPBody { [gate] in
            await gate.pass()
            return nil
        }
        return CoalescingTransport(
            ScriptedExchanges { _, _ in
                HTTPTransportResponse(head: HTTPResponseHead(status: 200, headers: headers), body: body)
            })
    }

    /// The `Date` of the response would set the clock of who joins back by as long as its body takes.
    @Test(
        arguments: [
            (Duration.milliseconds(900), nil, [nil, nil]), (.seconds(40), nil, [nil, "40"]),
            (.seconds(40), "2", ["2", "42"]),
        ] as [(Duration, String?, [String?])])
    func `G19: who joins after the head receives a response with an age`(
        waited: Duration, own: String?, ages: [String?]
    ) async throws {
        let transport = slowBody(own.map { ["Age": $0] } ?? [:])
        let first = Task { try await transport.perform(request()).head.headers["Age"] }
        await gate.arrivals(atLeast: 1)
        clock.advance(by: waited)
        let joined = Task { try await transport.perform(request()).head.headers["Age"] }
        try await until { transport.waiting == 2 }
        gate.open()
        let seen = [try await first.value, try await joined.value]
        #expect(seen == ages)
    }

    @Test func `G19: who joined and receives the head before the body learns its age too`() async throws {
        let transport = slowBody()
        let first = Task { try await transport.perform(request(within: .seconds(600))).head.headers["Age"] }
        await gate.arrivals(atLeast: 1)
        clock.advance(by: .seconds(40))
        let joined = Task { try await transport.perform(request()).head.headers["Age"] }
        await clock.sleepers(atLeast: 2)
        clock.advance(by: .seconds(60))
        #expect(try await joined.value == "100")
        gate.open()
        #expect(try await first.value == nil)
    }

    @Test func `a caller that leaves does not affect the others, the last one cancels the exchange`() async throws {
        let cancellations = Recorder<Bool>()
        let exchanges = ScriptedExchanges { [gate] _, _ in
            do {
                try await gate.passUnlessCancelled()
            } catch {
                cancellations.record(error is CancellationError)
                throw error
            }
            return .scripted()
        }
        let transport = CoalescingTransport(exchanges)
        let first = Task { try await transport.perform(request()).head.status }
        await gate.arrivals(atLeast: 1)
        let second = Task { try await transport.perform(request()).head.status }
        try await until { transport.waiting == 2 }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        gate.open()
        #expect(try await second.value == 200 && exchanges.requests.values.count == 1)

        gate.close()
        let last = Task { try await transport.perform(request()).head.status }
        await gate.arrivals(atLeast: 2)
        last.cancel()
        await #expect(throws: CancellationError.self) { try await last.value }
        try await until { !cancellations.values.isEmpty }
        #expect(cancellations.values == [true])
    }

    @Test func `a body that takes longer than the time to the head arrives whole`() async throws {
        let transport = CoalescingTransport(slow(endsInTime: false))
        let callers = (0..<3).map { _ in
            Task { try await transport.perform(request()).body.collect(upTo: 10) }
        }
        await gate.arrivals(atLeast: 1)
        await clock.sleepers(atLeast: 3)
        clock.advance(by: .seconds(61))
        for _ in 0..<1_000 { await Task.yield() }
        gate.open()
        for caller in callers { #expect(try await caller.value == Data("slow".utf8)) }
    }

    @Test func `each caller has a deadline of its own`() async throws {
        let exchanges = ScriptedExchanges { [gate] _, _ in
            await gate.pass()
            return .scripted()
        }
        let transport = CoalescingTransport(exchanges)
        let patient = Task { try await transport.perform(request()).head.status }
        await gate.arrivals(atLeast: 1)
        let hasty = Task { try await transport.perform(request(within: .seconds(5))).head.status }
        await clock.sleepers(atLeast: 2)
        clock.advance(by: .seconds(5))
        let error = try await #require(throws: HTTPTransportError.self) { try await hasty.value }
        #expect(error.code == .timedOut && error.waitedFor == .responseHead)
        gate.open()
        #expect(try await patient.value == 200)
    }
}
