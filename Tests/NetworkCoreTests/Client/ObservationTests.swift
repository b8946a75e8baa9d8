import ContractTesting
import NetworkCore
import NetworkTestSupport
import NetworkTesting
import TestSupport
import Testing

@Suite("NetworkObserver", .timeLimit(.minutes(10)))
struct ObservationTests {
    let observer = Recorder<NetworkEvent>()
    let clock = ManualTimeSource(uptime: .seconds(10))

    func client(_ stubs: Stub...) -> NetworkClient {
        NetworkClient(
            StubTransport(stubs), interceptors: [RetryPolicy(random: 0.5)], observers: [observer], clock: clock)
    }

    @Test func `observers receive every event of a call in order`() async throws {
        let client = client(
            .get("articles/7") ~> .status(503),
            .get("articles/7") ~> .status(302, headers: ["Location": "/api/v2/articles/7"]),
            .get("v2/articles/7") ~> .article)
        let task = Task { try await client.send(.article(7)) }
        try await clock.advance(toTimerIn: .milliseconds(250))
        _ = try await task.value

        let moved = RequestSummary(method: .get, url: url("https://api.example.com/api/v2/articles/7"))
        let kinds = observer.values.map(\.kind)
        #expect(
            kinds.dropLast() == [
                .started, .sent, .responded(status: 503),
                .retrying(after: .milliseconds(250), because: .unacceptableStatus, status: 503),
                .sent, .responded(status: 302), .redirected(status: 302, to: moved), .sent, .responded(status: 200),
            ])
        let last = try #require(kinds.last)
        #expect(last.name == .succeeded && last.status == 200 && (last.bytes ?? 0) > 0)
        #expect(Set(observer.values.map(\.id)).count == 1)
        #expect(observer.values.map(\.attempt) == [0, 1, 1, 1, 2, 2, 2, 2, 2, 2])
        #expect(observer.values.first?.uptime == .seconds(10))
        #expect(observer.values.last?.uptime == .seconds(10) + .milliseconds(250))
    }

    @Test func `a failure is the last event`() async throws {
        await networkError { try await client(.any ~> .status(404)).send(.article(7)) }
        #expect(observer.values.last?.kind == .failed(.unacceptableStatus, status: 404))
    }
}
