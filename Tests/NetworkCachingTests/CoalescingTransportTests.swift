import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NetworkCaching
import NetworkCore
import NetworkURLSession
import TestSupport
import Testing

/// Responds at once, with a body that waits at a gate.
private struct SlowBody: HTTPTransport {
    let gate: Gate

    func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        let rest = Locked(["slow"])
        let body = HTTPBody(pull: {
            await gate.pass()
            return rest.withLock { $0.popLast() }.map { Data($0.utf8) }
        })
        return HTTPTransportResponse(head: HTTPResponseHead(status: 200), body: body)
    }
}

@Suite("CoalescingTransport", .timeLimit(.minutes(10)))
struct CoalescingTransportTests {
    /// Counts exchanges, and lets each wait at a gate.
    struct Counting: HTTPTransport {
        let next = URLSessionTransport()
        let gate: Gate
        let count = Locked(0)
        let cancellations = Recorder<Bool>()

        func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
            count.withLock { $0 += 1 }
            do {
                try await gate.passUnlessCancelled()
                return try await next.perform(request)
            } catch {
                cancellations.record(error is CancellationError)
                throw error
            }
        }
    }

    let gate = Gate()
    let server: LoopbackServer

    init() throws {
        server = try LoopbackServer { request in
            switch request.target {
            case "/large": .respond(200, body: Data(count: 10_000))
            case "/missing": .respond(404)
            default: .respond(200, body: Data(request.target.utf8))
            }
        }
    }

    func request(_ path: String = "x", _ headers: HTTPHeaders = [:], session: String? = nil, within: Duration? = nil)
        -> HTTPTransportRequest
    {
        HTTPTransportRequest(
            head: HTTPRequestHead(url: server.url.appendingPathComponent(path), headers: headers),
            timeToHead: within,
            context: RequestContext(session: session.map { SessionID(rawValue: $0) })
        )
    }

    func send(_ requests: [HTTPTransportRequest], limit: Int = 5_000) async throws -> (statuses: [Int], exchanges: Int)
    {
        let counting = Counting(gate: gate)
        let transport = CoalescingTransport(counting, maximumSharedSize: limit)
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for request in requests {
                group.addTask {
                    let response = try await transport.perform(request)
                    _ = try await response.body.collect(upTo: 100_000)
                    return response.head.status
                }
            }
            await gate.arrivals(atLeast: 1)
            // Every task has had its turn before the first exchange continues.
            for _ in 0..<1_000 { await Task.yield() }
            gate.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        return (statuses, counting.count.withLock { $0 })
    }

    @Test func `equal requests under way are sent once`() async throws {
        defer { server.stop() }
        let result = try await send(Array(repeating: request(), count: 20))
        #expect(result.statuses == Array(repeating: 200, count: 20) && result.exchanges == 1)
    }

    @Test func `another URL, field or session is another request`() async throws {
        defer { server.stop() }
        let result = try await send([
            request(), request("y"), request("x", ["Accept": "a/b"]), request(session: "a"), request(session: "b"),
        ])
        #expect(result.exchanges == 5 && server.requests.count == 5)
    }

    @Test func `an error status is shared, a body over the limit is not`() async throws {
        defer { server.stop() }
        let missing = try await send(Array(repeating: request("missing"), count: 5))
        #expect(missing.statuses == [404, 404, 404, 404, 404] && missing.exchanges == 1)
        let large = try await send(Array(repeating: request("large"), count: 3))
        #expect(large.statuses == [200, 200, 200] && large.exchanges >= 1)
    }

    @Test func `a caller that leaves does not affect the others, the last one cancels the exchange`() async throws {
        defer { server.stop() }
        let counting = Counting(gate: gate)
        let transport = CoalescingTransport(counting)
        let request = request()
        let first = Task { try await transport.perform(request).head.status }
        await gate.arrivals(atLeast: 1)
        let second = Task { try await transport.perform(request).head.status }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        gate.open()
        #expect(try await second.value == 200)

        gate.close()
        let last = Task { try await transport.perform(request).head.status }
        await gate.arrivals(atLeast: 2)
        last.cancel()
        await #expect(throws: CancellationError.self) { try await last.value }
        try await until { !counting.cancellations.values.isEmpty }
        #expect(counting.cancellations.values == [true])
    }

    @Test func `a body that takes longer than the time to the head arrives whole`() async throws {
        server.stop()
        let clock = ManualTimeSource()
        let transport = CoalescingTransport(SlowBody(gate: gate))
        let slow = HTTPTransportRequest(
            head: HTTPRequestHead(url: server.url), timeToHead: .seconds(60),
            context: RequestContext(clock: clock))
        let callers = (0..<3).map { _ in
            Task { try await transport.perform(slow).body.collect(upTo: 10) }
        }
        await gate.arrivals(atLeast: 1)
        await clock.sleepers(atLeast: 3)
        clock.advance(by: .seconds(61))
        for _ in 0..<1_000 { await Task.yield() }
        gate.open()
        for caller in callers { #expect(try await caller.value == Data("slow".utf8)) }
    }

    @Test func `each caller has a deadline of its own`() async throws {
        defer { server.stop() }
        let transport = CoalescingTransport(Counting(gate: gate))
        let patient = Task { [request = request()] in try await transport.perform(request).head.status }
        await gate.arrivals(atLeast: 1)
        let error = try await #require(throws: HTTPTransportError.self) {
            try await transport.perform(request(within: .milliseconds(50)))
        }
        #expect(error.code == .timedOut)
        #expect(error.waitedFor == .responseHead)
        gate.open()
        #expect(try await patient.value == 200)
    }
}
