import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import TestSupport
import Testing

@testable import TokenRefresh

/// G5, G6, G10, G12: failed refreshes, and their cost.
@Suite(.timeLimit(.minutes(10))) struct FailureRaceTests {
    @Test func `G6: requests in a short pause wait for its end by the clock, and then share one call`() async throws {
        let (bench, token) = try await Bench.withToken()
        bench.handler.enqueue(.failure(TokenRefreshError(.unavailable, retryAfter: .seconds(1))))
        #expect(await bench.refuse(token).outcomes() == ["refreshUnavailable"])
        let requests = bench.refuse(try await bench.engine.token(), times: 100)
        try await until { bench.engine.core.withLock { $0.waiters.count } == 100 }
        #expect(bench.handler.calls.count == 1)
        bench.clock.advance(by: .seconds(1))
        #expect(try await requests.tokens().allSatisfy { $0.name == "ada1 g1" })
        #expect(bench.handler.calls.count == 2)
    }

    @Test(arguments: Bench.StoreKind.allCases)
    func `G5: 1,000 requests of a rejected session cause one ending, and every observer sees it once`(
        kind: Bench.StoreKind
    ) async throws {
        let (bench, ada) = try await Bench.withToken(kind)
        let observers = (0..<8).map { _ in
            let states = bench.engine.states
            return Task { await states.prefix(3).reduce(into: []) { $0.append($1) } }
        }
        let (gate, requests) = try await bench.startRefresh(
            of: ada, requests: 1_000, response: .failure(TokenRefreshError.rejected)
        )
        gate.open()
        #expect(Set(await requests.outcomes()) == ["sessionEnded"])
        let later = bench.refuse(ada, times: 5) + bench.ask(times: 5)
        #expect(Set(await later.outcomes()) == ["sessionEnded", "notSignedIn"])
        let bob = try await bench.signIn("bob")
        for observer in observers {
            #expect(await observer.value == [.signedIn(ada.session), .signedOut(.expired()), .signedIn(bob.session)])
        }
        #expect(bench.events.count("signedOut") == 1)
        #expect(bench.handler.calls.count == 1)
    }

    @Test func `G10: a server that refuses what it has just issued causes no loop, for one request or for all`()
        async throws
    {
        let (bench, old) = try await Bench.withToken()
        let fresh = try await bench.engine.replacement(for: old)
        #expect(Set(await bench.refuse(fresh, times: 1_000).outcomes()) == ["unauthorized"])
        for _ in 0..<20 { #expect(await bench.refuse(fresh).outcomes() == ["unauthorized"]) }
        #expect(try await bench.ask(times: 100).tokens().allSatisfy { $0 == fresh }, "other requests are not affected")
        #expect(bench.handler.calls.count == 1)
        bench.clock.advance(by: .seconds(10))
        #expect(try await bench.refuse(fresh, times: 1_000).tokens().allSatisfy { $0.name == "ada1 g2" })
        #expect(bench.handler.calls.count == 2)
        #expect(bench.engine.state == .signedIn(old.session))
    }

    @Test func `G12: a response that is lost after the rotation is requested again with the same refresh token`()
        async throws
    {
        let bench = Bench(hasGraceWindow: true)
        let token = try await bench.signIn()
        bench.handler.enqueue(.rotateThenFail(TokenRefreshError.unavailable))
        #expect(await bench.refuse(token).outcomes() == ["refreshUnavailable"])
        bench.clock.advance(by: .seconds(60))
        #expect(await bench.refuse(token).outcomes() == ["ada1 g1"])
        #expect(bench.handler.calls.map(\.ordinal) == [0, 0])
        #expect(bench.store.base.bundle?.generation == 1)
    }

    @Test func `G12: where the server tolerates no replay, there is one replay, one ending, and no further call`()
        async throws
    {
        let (bench, token) = try await Bench.withToken()
        let lost = ScriptedRefreshHandler.Response.rotateThenFail(TokenRefreshError.unavailable)
        let (gate, requests) = try await bench.startRefresh(of: token, requests: 100, response: lost)
        gate.open()
        #expect(Set(await requests.outcomes()) == ["refreshUnavailable"])
        bench.clock.advance(by: .seconds(60))
        #expect(Set(await bench.refuse(token, times: 100).outcomes()) == ["sessionEnded"])
        #expect(Set(await bench.ask(times: 100).outcomes()) == ["notSignedIn"])
        #expect(bench.handler.calls.map(\.ordinal) == [0, 0])
        #expect(bench.events.count("signedOut") == 1)
        try await until { bench.store.base.bundle == nil }
    }
}
