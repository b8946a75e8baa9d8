import ConcurrencyPrimitives
import ContractTesting
import Foundation
import NetworkCore
import NetworkTestSupport
import NetworkTesting
import NetworkTransfers
import TestSupport
import Testing

@Suite("Event streams", .timeLimit(.minutes(10)))
struct ServerSentEventsTests {
    let servers = LoopbackServers()

    typealias Action = LoopbackServer.Action

    let clock = ManualTimeSource()
    let feed = Endpoint<Void>.get("feed")

    static func stream(_ text: String, type: String = "text/event-stream") -> Action {
        .raw(Data("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\n\r\n\(text)".utf8))
    }

    /// A server that performs one action after another. The last one is repeated.
    func server(_ actions: [Action]) throws -> LoopbackServer {
        let rest = Locked(actions[...])
        return try servers.start { _ in
            rest.withLock { rest in rest.count > 1 ? rest.removeFirst() : rest.first ?? .close }
        }
    }

    func options(_ change: (inout EventStreamOptions) -> Void = { _ in }) -> EventStreamOptions {
        var options = EventStreamOptions()
        options.clock = clock
        change(&options)
        return options
    }

    /// Reads all events, and lets each pause pass.
    func read(_ events: ServerSentEvents) async throws -> [ServerSentEvent] {
        let clock = clock
        let pauses = Task {
            while !Task.isCancelled { try await clock.advance(by: .seconds(300), whenAsleep: 1) }
        }
        defer { pauses.cancel() }
        return try await events.reduce(into: []) { $0.append($1) }
    }

    @Test func `a stream reconnects with the id of the last whole event, and 204 ends it`() async throws {
        let cut = Self.stream("id: 1\ndata: a\n\nid: 2\ndata: b\n\nid: 3\ndata: half")
        let server = try server([cut, Self.stream("data: c\n\n"), .respond(204)])
        let events = try await read(server.client.events(feed, options: options()))
        #expect(events.map(\.data) == ["a", "b", "c"] && events.last?.id == "2")
        #expect(server.requests.map { $0["Last-Event-ID"] } == [nil, "2", "2"])
        #expect(server.requests.allSatisfy { $0["Accept"] == "text/event-stream" })
    }

    @Test func `no event is lost or repeated when the token expires between connections`() async throws {
        let server = try servers.start { request in
            let token = request["Authorization"]
            switch (request["Last-Event-ID"], token) {
            case (nil, "Bearer access-0"): return Self.stream("id: 1\ndata: a\n\n")
            case ("1", "Bearer access-0"): return .respond(401)
            case ("1", "Bearer access-1"): return Self.stream("id: 2\ndata: b\n\n")
            default: return .respond(204)
            }
        }
        let provider = ScriptedTokenProvider()
        let network = server.client.authenticated(by: provider)
        #expect(try await read(network.events(feed, options: options())).map(\.data) == ["a", "b"])
        #expect(provider.refusals.count == 1)
    }

    @Test func `a stream does not reconnect as another user`() async throws {
        let provider = ScriptedTokenProvider()
        let server = try servers.start { _ in
            provider.set(.success(.ofAnotherSession))
            return Self.stream("data: a\n\n")
        }
        let network = server.client.authenticated(by: provider)
        let error = try #require(await networkError { try await read(network.events(feed, options: options())) })
        #expect(error.code == .sessionEnded && server.requests.count == 1)
    }

    @Test(arguments: [400, 401, 403, 404, 500, 503])
    func `a status of the server's trouble is waited out, any other one ends the stream`(status: Int) async throws {
        let server = try server([.respond(status)])
        let options = options { $0.maximumFailures = 3 }
        let error = try #require(await networkError { try await read(server.client.events(feed, options: options)) })
        #expect(error.status == status)
        #expect(server.requests.count == (status >= 500 ? 4 : 1))
    }

    @Test func `a stream that ends without a byte goes on, however often`() async throws {
        let quiet = Array(repeating: Self.stream(""), count: 25)
        let server = try server(quiet + [Self.stream("data: a\n\n"), .respond(204)])
        #expect(try await read(server.client.events(feed, options: options())).map(\.data) == ["a"])
        #expect(server.requests.count == 27)
    }

    @Test func `the pauses grow while a server ends each connection at once`() async throws {
        let server = try server([Self.stream(""), Self.stream(""), Self.stream(""), .respond(204)])
        let options = options { $0.backoff = Self.wholePauses }
        let end = Task { try await server.client.events(feed, options: options).reduce(0) { count, _ in count + 1 } }
        for (count, pause) in [1, 2, 4].enumerated() {
            try await clock.advance(by: .milliseconds(pause * 1_000 - 1), whenAsleep: 1)
            #expect(server.requests.count == count + 1)
            try await clock.advance(by: .milliseconds(1), whenAsleep: 1)
        }
        #expect(try await end.value == 0 && server.requests.count == 4)
    }

    @Test(arguments: [false, true])
    func `a stream that a balancer ends has the first pause each time`(isCut: Bool) async throws {
        let transport = StubTransport((.any ~> silence(isCut)).repeated())
        let client = NetworkClient(baseURL: baseURL, transport: transport)
        let options = options { $0.backoff = Self.wholePauses }
        let reader = Task { for try await _ in client.events(feed, options: options) {} }
        for count in 1...12 {
            try await clock.advance(by: .milliseconds(999), whenAsleep: 1)
            #expect(transport.requests.count == count)
            try await clock.advance(by: .milliseconds(1), whenAsleep: 1)
        }
        try await clock.advance(by: .zero, whenAsleep: 1)
        await expectCancellation(of: reader)
    }

    /// Pauses of 1, 2, 4 seconds, without jitter.
    private static let wholePauses = Backoff(base: .seconds(1), limit: .seconds(30), floor: .seconds(30))

    /// A response without a byte, which a balancer ends or cuts after 55 seconds.
    private func silence(_ isCut: Bool) -> StubResponse {
        StubResponse { [clock] request in
            let head = HTTPResponseHead(status: 200, headers: ["Content-Type": "text/event-stream"], url: request.url)
            let body = HTTPBody {
                clock.advance(by: .seconds(55))
                if isCut { throw HTTPTransportError(.connectionFailed, reason: "cut") }
                return nil
            }
            return HTTPTransportResponse(head: head, body: body)
        }
    }

    @Test func `events before one over the limit are delivered although one piece has both`() async throws {
        let server = try server([Self.stream("data: a\n\ndata: \(String(repeating: "x", count: 2_000))\n\n")])
        var events = server.client.events(feed, options: options { $0.maximumEventSize = 1_000 }).makeAsyncIterator()
        #expect(try await events.next()?.data == "a")
        #expect(await networkError { try await events.next() }?.code == .responseTooLarge)
        #expect(try await events.next() == nil)
        #expect(server.requests.count == 1)
    }

    @Test func `a response of another media type is an error`() async throws {
        let server = try server([Self.stream("data: a\n\n", type: "text/html")])
        let error = try #require(await networkError { try await read(server.client.events(feed, options: options())) })
        #expect(error.code == .decodingFailed && server.requests.count == 1)
    }

    @Test func `a stream that is silent for the idle timeout reconnects`() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nid: 1\ndata: a\n\n"
        let server = try servers.start { request in
            request["Last-Event-ID"] == "1" ? .respond(204) : .rawThenHold(Data(head.utf8))
        }
        let options = options {
            $0.idleTimeout = .milliseconds(200)
            $0.maximumFailures = .max
        }
        #expect(try await read(server.client.events(feed, options: options)).map(\.data) == ["a"])
        #expect(server.requests.count >= 2)
    }

    @Test func `a POST without a key is sent once`() async throws {
        let server = try server([Self.stream("data: a\n\n")])
        let events = server.client.events(Endpoint<Void>.post("chat"), options: options())
        #expect(try await read(events).map(\.data) == ["a"])
        #expect(server.requests.count == 1)
    }

    @Test func `the pause that the server asks for is kept within its limit`() async throws {
        let server = try server([Self.stream("retry: 5000\ndata: a\n\n"), .respond(204)])
        var iterator = server.client.events(feed, options: options()).makeAsyncIterator()
        #expect(try await iterator.next()?.data == "a")
        let end = Task { [iterator] in
            var iterator = iterator
            return try await iterator.next()
        }
        try await clock.advance(by: .milliseconds(4_999), whenAsleep: 1)
        #expect(server.requests.count == 1)
        // It still sleeps.
        try await clock.advance(by: .milliseconds(1), whenAsleep: 1)
        #expect(try await end.value == nil)
        #expect(server.requests.count == 2)
    }

    @Test func `a cancelled reader stops at once`() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: a\n\n"
        let server = try server([.rawThenHold(Data(head.utf8))])
        let (started, start) = AsyncStream<Void>.makeStream()
        let options = options()
        let reader = Task { for try await _ in server.client.events(feed, options: options) { start.yield() } }
        for await _ in started { break }
        await expectCancellation(of: reader)
    }
}
