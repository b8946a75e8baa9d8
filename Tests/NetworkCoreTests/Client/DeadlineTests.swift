import AuthInterface
import ContractTesting
import Foundation
import NetworkRecording
import NetworkTestSupport
import NetworkTesting
import NetworkURLSession
import TestSupport
import Testing

@testable import NetworkCore

/// G25: every wait of a call ends at its deadline, and the error names what it waited for.
@Suite(.timeLimit(.minutes(10))) struct DeadlineTests {
    /// Work that never ends, and does not look at its cancellation.
    static func hang() async { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }

    /// Advances a clock for as long as something sleeps by it.
    static func tick(_ clock: ManualTimeSource) -> Task<Void, any Error> {
        Task {
            while !Task.isCancelled {
                try await clock.advance(by: .seconds(1), whenAsleep: 1)
                await Task.yield()
            }
        }
    }

    static func failure(
        _ transport: any HTTPTransport,
        interceptors: [any RequestInterceptor] = [],
        provider: Guest? = nil,
        deadline: Duration? = nil
    ) async throws -> (NetworkError, Recorder<NetworkEvent>) {
        let clock = ManualTimeSource()
        let observer = Recorder<NetworkEvent>()
        let client = NetworkClient(transport, interceptors: interceptors, observers: [observer], clock: clock)
        let network: any NetworkService = if let provider { client.authenticated(by: provider) } else { client }
        let ticking = Self.tick(clock)
        defer { ticking.cancel() }
        let error = await networkError { try await network.send(.article(7), deadline: deadline) }
        return (try #require(error), observer)
    }

    @Test(arguments: [Place.token, .replacement, .interceptor, .retry])
    func `the wait for a token and for an interceptor ends at the deadline`(_ place: Place) async throws {
        let status = [Place.replacement: 401, .retry: 503][place]
        let transport = StubTransport(status.map { [.any ~> .status($0)] } ?? [])
        let (error, observer) = try await Self.failure(
            transport, interceptors: [Guest(place: place)], provider: Guest(place: place))
        let isToken = [.token, .replacement].contains(place)
        #expect(error.code == .timedOut && error.waitedFor == (isToken ? .token : .interceptor))
        if place == .replacement { #expect(error.attempt == 1) }
        guard place == .token else { return }
        #expect("\(error)".contains("waited for a token until the deadline of 1 min"))
        #expect(error.request?.url == "https://api.example.com/api/v1/articles/7")
        #expect(observer.values.map(\.kind.name) == [.started, .failed])
    }

    @Test func `a call whose token is replaced past its deadline is timedOut, and not refused`() async throws {
        let (clock, provider) = (ManualTimeSource(), ScriptedTokenProvider())
        provider.onReplacement { refused in
            // The device sleeps.
            clock.advance(by: .seconds(600))
            return refused.next
        }
        let transport = StubTransport(responding: .status(401))
        let client = NetworkClient(transport, clock: clock).authenticated(by: provider)
        let error = await networkError { try await client.send(.article(7)) }
        #expect(error?.code == .timedOut && error?.waitedFor == .token && error?.status == nil)
        #expect(transport.requests.count == 1)
    }

    /// The device sleeps while the response is under way, and its token expires.
    @Test(
        arguments: [
            (401, "", .timedOut), (403, #"Bearer error="insufficient_scope""#, .stepUpRequired),
            (403, "", .unacceptableStatus),
        ] as [(Int, String, NetworkError.Code)])
    func `a refusal of the token that comes past the deadline is none of the call`(
        status: Int, challenge: String, code: NetworkError.Code
    ) async throws {
        let (clock, provider) = (ManualTimeSource(), ScriptedTokenProvider())
        let transport = StubTransport(
            .any
                ~> StubResponse { _ in
                    clock.advance(by: .seconds(600))
                    return HTTPTransportResponse(
                        head: HTTPResponseHead(status: status, headers: ["WWW-Authenticate": challenge]))
                })
        let client = NetworkClient(transport, clock: clock).authenticated(by: provider)
        let error = await networkError { try await client.send(.article(7)) }
        #expect(error?.code == code && transport.requests.count == 1)
        if code == .timedOut { #expect(error?.waitedFor == .token && error?.status == nil) }
    }

    @Test func `a transport that does not look at its time limit is left a second after the deadline`() async throws {
        let hanging = StubResponse { _ in
            await Self.hang()
            throw CancellationError()
        }
        let (error, _) = try await Self.failure(StubTransport(.any ~> hanging), deadline: .seconds(5))
        #expect(error.code == .timedOut && error.waitedFor == .responseHead)
        #expect(try #require(error.elapsed) >= .seconds(6))
    }

    /// A server that sends the head and then a byte from time to time, indefinitely.
    static func drip(_ clock: ManualTimeSource, status: Int = 200) -> StubResponse {
        StubResponse { _ in
            HTTPTransportResponse(
                head: HTTPResponseHead(status: status),
                body: HTTPBody {
                    try await clock.sleep(until: clock.uptime + .seconds(1))
                    return Data("x".utf8)
                }
            )
        }
    }

    @Test func `a dripping body ends at the deadline, the caller's or the client's`() async throws {
        for deadline in [Duration.seconds(90), nil] {
            let clock = ManualTimeSource()
            let transport = StubTransport((.any ~> Self.drip(clock)).repeated())
            let client = NetworkClient(transport, clock: clock) { $0.maximumResponseSize = 200 }
            let ticking = Self.tick(clock)
            defer { ticking.cancel() }
            let error = await networkError { try await client.send(Endpoint<Data>.get("drip"), deadline: deadline) }
            #expect(error?.code == .timedOut && error?.waitedFor == .responseBody && error?.status == 200)
        }
    }

    @Test func `an error page that drips does not hide its status`() async throws {
        let clock = ManualTimeSource()
        let asked = Recorder<String>()
        let client = NetworkClient(
            StubTransport(responding: Self.drip(clock, status: 503)),
            interceptors: [NetworkClientTests.AlwaysRetry(name: "a", log: asked)], clock: clock)
        let ticking = Self.tick(clock)
        defer { ticking.cancel() }
        let error = try await #require(throws: NetworkError.self) { _ = try await client.send(.article(7)) }
        #expect(error.status == 503 && error.body == nil)
        // The deadline has passed, so nothing can follow.
        #expect(asked.values == ["a adapts 1"])
    }

    /// Where a call hangs in code of others.
    enum Place: CaseIterable {
        case interceptor, retry, token, replacement, transport, body, errorPage
    }

    @Test(arguments: Place.allCases, [Duration.seconds(60), nil])
    func `a call that is cancelled ends at once wherever it hangs, with a deadline or without`(
        _ place: Place, deadline: Duration?
    ) async throws {
        let arrived = Gate()
        let hang: @Sendable () async -> Void = {
            arrived.open()
            await Self.hang()
        }
        let slow = HTTPBody {
            await hang()
            return nil
        }
        let stub = StubResponse { _ in
            if place == .transport { await hang() }
            let status = [.retry: 503, .replacement: 401, .errorPage: 503][place] ?? 200
            return HTTPTransportResponse(
                head: HTTPResponseHead(status: status), body: [.body, .errorPage].contains(place) ? slow : .none)
        }
        let guest = Guest(place: place, hang: hang)
        let client = NetworkClient(StubTransport((.any ~> stub).repeated()), interceptors: [guest]) {
            $0.deadline = deadline
        }.authenticated(by: guest)
        let call = Task { try await client.send(Endpoint<Data>.get("x")) }
        try await arrived.passUnlessCancelled()
        await expectCancellation(of: call)
    }

    /// An interceptor and a source of tokens that hang in one place.
    struct Guest: RequestInterceptor, TokenProvider {
        let place: Place
        var hang: @Sendable () async -> Void = { await DeadlineTests.hang() }

        func adapt(_ request: HTTPRequestHead, context: RequestContext) async throws -> HTTPRequestHead {
            if place == .interceptor { await hang() }
            return request
        }

        func retry(_ failure: NetworkError, context: RequestContext) async throws -> RetryDecision {
            if place == .retry { await hang() }
            return .doNotRetry
        }

        func token() async throws -> SessionToken {
            if place == .token { await hang() }
            return .first
        }

        func replacement(after refusal: TokenRefusal) async throws -> SessionToken {
            await hang()
            return .first
        }
    }

    @Test(arguments: [[], [RetryPolicy.standard]])
    func `cancelling is not reported as a failure of the transport`(interceptors: [RetryPolicy]) async throws {
        let gate = Gate()
        let stub = StubResponse { _ in
            await gate.pass()
            throw URLError(.cancelled)
        }
        let transport = StubTransport(responding: stub)
        let client = NetworkClient(transport, interceptors: interceptors)
        let task = Task { try await client.send(.article(7)) }
        try await gate.arrivals(atLeast: 1)
        task.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(transport.requests.count == 1)
    }

    @Test func `a deadline may be as far away as a caller likes`() async throws {
        let gate = Gate()
        let stub = StubResponse { _ in
            await gate.pass()
            return HTTPTransportResponse(head: HTTPResponseHead(status: 200))
        }
        let client = NetworkClient(StubTransport(responding: stub))
        let call = Task { try await client.send(Endpoint<Data>.get("x"), deadline: .seconds(Int64.max)) }
        try await gate.arrivals(atLeast: 1)
        gate.open()
        #expect(try await call.value.isEmpty)
    }

    @Test func `a transport around another one ends in time where that one does`() {
        for transport: any HTTPTransport in [URLSessionTransport(), StubTransport()] {
            #expect(HARRecorder(transport).endsInTime == transport.endsInTime)
        }
        #expect(URLSessionTransport().endsInTime)
        #expect(!StubTransport().endsInTime)
    }
}
