import AuthInterface
import AuthTesting
import ContractTesting
import Foundation
import Testing

@testable import TokenRefresh

/// G26: handlers and stores that return invalid values: typed errors, no crash, no loop.
@Suite(.timeLimit(.minutes(10))) struct BadInputTests {
    @Test(arguments: [
        Duration.seconds(-5), .zero, .seconds(Int64.min), .seconds(Int64.max), .seconds(400 * 86_400),
        .nanoseconds(1), .milliseconds(1),
    ])
    func `A lifetime that is negative, zero or absurd is ignored, and causes no refresh`(lifetime: Duration)
        async throws
    {
        let (bench, token) = try await Bench.withToken()
        bench.handler.enqueue(.tokens(.fixture(ordinal: 1, expiresIn: lifetime)))
        #expect(await bench.refuse(token).outcomes() == ["ada1 g1"])
        #expect(Set(await bench.ask(times: 1_000).outcomes()) == ["ada1 g1"])
        #expect(bench.handler.calls.count == 1)
    }

    @Test func `A server that returns the same tokens again causes no loop`() async throws {
        let (bench, token) = try await Bench.withToken()
        let same = ScriptedRefreshHandler.Response.tokens(.fixture(ordinal: 0))
        bench.handler.enqueue(same, same, same)
        let again = try await bench.engine.replacement(for: token)
        #expect(again.value == token.value)
        for _ in 0..<20 { #expect(await bench.refuse(again).outcomes() == ["unauthorized"]) }
        #expect(bench.handler.calls.count == 1)
    }

    @Test(arguments: [1e300, -1e300, .infinity, -.infinity, .nan, 1e18, -1e18, 0])
    func `An implausible server date does not stop the process, and is ignored`(seconds: Double) async throws {
        let (bench, token) = try await Bench.withToken()
        let jwt = String.jwt(exp: 1_800_000_900, iat: 1_800_000_000)
        let date = Date(timeIntervalSince1970: seconds)
        bench.handler.enqueue(
            .tokens(TokenRefreshResult(accessToken: jwt, refreshToken: "refresh-ada1-1", serverDate: date))
        )
        #expect(try await bench.engine.replacement(for: token).value == jwt)
        bench.engine.noteServerDate(date)
        #expect(Set(try await bench.ask(times: 100).tokens().map(\.value)) == [jwt])
        #expect(bench.handler.calls.count == 1)
        let stored = try JSONEncoder().encode(#require(bench.store.base.bundle))
        #expect(!stored.isEmpty, "and what is stored can be written down")
    }

    @Test func `A Retry-After that is negative or absurd leaves the pause bounded`() async throws {
        for asked in [Duration.seconds(-100), .seconds(Int64.max), .seconds(Int64.min)] {
            let (bench, token) = try await Bench.withToken()
            bench.handler.enqueue(.failure(TokenRefreshError(.unavailable, retryAfter: asked)))
            #expect(await bench.refuse(token).outcomes() == ["refreshUnavailable"])
            bench.clock.advance(by: .seconds(300))
            #expect(await bench.refuse(token).outcomes() == ["ada1 g1"])
        }
    }

    @Test(arguments: [Int.min, -1, Int.max - 1, Int.max], [0, .infinity, -.infinity, .nan, 1e300, -1e300])
    func `A stored bundle with absurd numbers does not stop the process, and signs no user out`(
        generation: Int, seconds: Double
    ) async throws {
        let stored = TokenBundle(
            accessToken: "access-ada1-0",
            refreshToken: "refresh-ada1-0",
            expiresAt: Date(timeIntervalSince1970: seconds),
            clockSkew: seconds,
            session: SessionID(rawValue: "ada1"),
            generation: generation
        )
        for kind in Bench.StoreKind.allCases {
            let bench = Bench(kind, holding: stored)
            var outcomes = Set(await bench.ask(times: 10).outcomes())
            let token = SessionToken(value: "access-ada1-0", session: stored.session, generation: generation)
            outcomes.formUnion(await bench.refuse(token, times: 10).outcomes())
            let known: Set = [
                "ada1 g0", "ada1 g1", "storeUnavailable", "unauthorized", "refreshUnavailable", "sessionEnded",
            ]
            #expect(outcomes.isSubset(of: known))
            #expect(bench.engine.state == .unknown || bench.engine.state == .signedIn(stored.session))
            #expect(bench.handler.calls.count <= 1 && bench.server.reuses == 0)
            #expect(bench.store.calls(.delete) == 0)
        }
    }

    @Test func `A shared bundle that no process can use is replaced by one with valid tokens`() async throws {
        let bench = try await Bench.signedIn(.shared)
        for (generation, session) in ["ada1", "eve1"].enumerated() {
            let corrupt = TokenBundle(
                accessToken: "", refreshToken: "", session: SessionID(rawValue: session), generation: 9
            )
            await bench.store.base.save(corrupt)
            let requests = bench.refuse(try await bench.engine.token(), times: 10)
            #expect(Set(await requests.outcomes()) == ["ada1 g\(generation + 1)"])
            #expect(bench.store.base.bundle?.generation == generation + 1)
            bench.clock.advance(by: .seconds(60))
        }
        #expect(bench.server.reuses == 0)
    }

    @Test func `A store that always returns another user's bundle causes no loop and no call`() async throws {
        let bench = try await Bench.signedIn(.shared)
        var token = try await bench.engine.token()
        for round in 1...10 {
            await bench.store.base.save(.fixture("eve\(round)"))
            #expect(Set(await bench.refuse(token, times: 10).outcomes()) == ["sessionEnded"])
            token = try await bench.engine.token()
            #expect(token.name == "eve\(round) g0")
        }
        #expect(bench.handler.calls.isEmpty)
    }
}
