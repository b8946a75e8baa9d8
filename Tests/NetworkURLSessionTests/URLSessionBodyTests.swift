import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NetworkCore
import NetworkTestSupport
import NetworkURLSession
import TestSupport
import Testing

@Suite("Bodies over URLSession", .timeLimit(.minutes(10)))
struct URLSessionBodyTests {
    let servers = LoopbackServers()
    let transport = URLSessionTransport()

    func request(_ url: URL, body: HTTPBody = .none, timeout: Duration = .seconds(300)) -> HTTPTransportRequest {
        let head = HTTPRequestHead(method: body.isEmpty ? .get : .post, url: url)
        return HTTPTransportRequest(head: head, body: body, idleTimeout: timeout)
    }

    @Test func `a sequence that waits does not hold a cancelled request back`() async throws {
        let server = try servers.start { _ in .respond(204) }
        let asked = Gate(isOpen: true)
        let never = Gate()
        // More often than there are cold connections: none may stay occupied.
        for round in 1...(2 * URLSessionTransport.coldConnectionLimit) {
            let body = HTTPBody {
                AsyncStream<Data> {
                    await asked.pass()
                    try? await never.passUnlessCancelled()
                    return nil
                }
            }
            let task = Task { try await transport.perform(request(server.url, body: body)) }
            try await asked.arrivals(atLeast: round)
            await expectCancellation(of: task)
        }
    }

    @Test func `a file that shrinks while it is sent is named as the reason`() async throws {
        let file = try TemporaryFile(Data(repeating: 7, count: 100_000))
        let body = try HTTPBody(file: file.url)
        try Data(repeating: 7, count: 10).write(to: file.url)
        let server = try servers.start { _ in .hold }
        let error = await #expect(throws: HTTPTransportError.self) {
            try await transport.perform(request(server.url, body: body, timeout: .milliseconds(100)))
        }
        #expect(error?.reason == "the file changed while it was read")
    }

    @Test(arguments: [1_000, 100_000, 200_000])
    func `a file that is written while it is sent is an error, though the server has responded`(size: Int) async throws
    {
        let file = try TemporaryFile(Data(repeating: 1, count: 100_000))
        let server = try servers.start { _ in
            try? Data(repeating: 2, count: size).write(to: file.url)
            return .respond(200)
        }
        let transport = URLSessionTransport()
        let client = NetworkClient(baseURL: server.url, transport: transport)
        let error = try await #require(throws: NetworkError.self) {
            _ = try await client.send(Endpoint<Data>.put("file", body: .file(file.url)))
        }
        #expect(error.code == .encodingFailed && "\(error)".contains("changed"))
    }

    @Test func `a file that is written while a form with it is read is an error`() async throws {
        let file = try TemporaryFile(Data(repeating: 1, count: 200_000))
        let body = try HTTPBody(file: file.url)
        await #expect(throws: HTTPBodyError.self) {
            for try await _ in body { try Data(repeating: 2, count: 200_000).write(to: file.url) }
        }
    }

    @Test func `a response that nothing reads fails when too much of it waits`() async throws {
        let server = try servers.start { _ in .respond(200, body: Data(repeating: 7, count: 8 * 1_024 * 1_024)) }
        var limits = URLSessionTransport.Limits()
        limits.unreadBytes = 1_024 * 1_024
        let transport = URLSessionTransport(limits: limits)
        let response = try await transport.perform(request(server.url))
        let error = await #expect(throws: HTTPTransportError.self) { try await response.completion() }
        #expect(error?.reason.contains("faster than it is read") == true)
    }

    @Test func `the time to the head includes the wait for a connection and says what it waited for`() async throws {
        let server = try servers.start { _ in .hold }
        let clock = ManualTimeSource()
        var limits = URLSessionTransport.Limits()
        (limits.connectionsPerHost, limits.wakeGrace) = (1, .zero)
        let transport = URLSessionTransport(limits: limits, clock: clock)
        var request = request(server.url)
        request.timeToHead = .seconds(5)
        let queued = Gate(isOpen: true)
        request.onEvent = { event in if event.kind == .queued { Task { await queued.pass() } } }
        let first = Task { [request] in try await transport.perform(request) }
        let second = Task { [request] in try await transport.perform(request) }
        try await queued.arrivals(atLeast: 1)
        try await clock.advance(by: .seconds(6), whenAsleep: 1)
        var reasons: Set<String> = []
        for call in [first, second] {
            let error = await #expect(throws: HTTPTransportError.self) { try await call.value }
            #expect(error?.code == .timedOut)
            reasons.insert(error?.reason ?? "")
        }
        #expect(
            reasons == [
                "waited for the head of the response for 5 s", "waited for a connection for 5 s",
            ])
    }
}
