import AuthInterface
import AuthTesting
import ContractTesting
import TestSupport
import Testing

@testable import TokenRefresh

/// G1, G5, G9, G13, G22, G30: sessions that no user signs in, as the handler needs no refresh token.
@Suite(.timeLimit(.minutes(10))) struct ClientSessionTests {
    private let place = JournaledPlace(isClient: true)

    @Test(arguments: Bench.StoreKind.allCases)
    func `G1, G22: the first requests begin a session and make one call`(kind: Bench.StoreKind) async throws {
        let (process, gate) = (place.start(kind), Gate())
        process.handler.add(.held(at: gate, then: .client))
        let requests = process.ask(times: 100)
        try await process.waiters(atLeast: 100)
        gate.open()
        #expect(Set(await requests.outcomes()) == ["job1 g0"])
        try await process.events.first("signedIn")
        #expect(process.events.count("signedIn") == 1 && process.events.count("signedOut") == 0)
        #expect(process.handler.calls.count == 1)
        #expect(place.base.bundle?.generation == 1 && process.engine.status.isRefreshable)
    }

    @Test func `restore begins a session and makes the first call, for which it does not wait`() async throws {
        let (process, gate) = (place.start(.shared), Gate())
        process.handler.add(.held(at: gate, then: .failure(TokenRefreshError.unavailable)))
        #expect(try await process.engine.restore() == .signedIn(try #require(place.base.bundle).session))
        try #require(process.engine.status.isRefreshing)
        try await gate.arrivals(atLeast: 1)
        gate.open()
        #expect(try await process.engine.token().name == "job1 g0", "its lost response is repeated")
    }

    @Test func `G13: processes that begin at once have one session, and neither ends that of the other`() async throws {
        let (first, second) = (place.start(.shared), place.start(.shared))
        let gate = second.store.hold(.load, .after)
        let request = second.ask()
        try await gate.arrivals(atLeast: 1)
        // The other one has found the store empty, and begins later.
        #expect(try await first.engine.token().name == "job1 g0")
        place.clock.advance(by: .seconds(1))
        gate.open()
        #expect(await request.outcomes() == ["job1 g0"])
        #expect(second.engine.state == first.engine.state && second.handler.calls.isEmpty)
        #expect(first.events.count("signedOut") + second.events.count("signedOut") == 0)
    }

    @Test func `G5: a sign-out stops the requests of every process, until restore`() async throws {
        let (first, second) = (place.start(.shared), place.start(.shared))
        let token = try await first.engine.token()
        _ = try await second.engine.token()
        try await first.engine.signOut()
        try await until { second.engine.state == .signedOut(.byUser) }
        for process in [first, second, place.start(.shared)] {
            #expect(await process.ask().outcomes() == ["notSignedIn"])
        }
        let third = place.start(.shared)
        let state = try await third.engine.restore()
        #expect(state != .signedIn(token.session))
        try await until { first.engine.state == state && second.engine.state == state }
        #expect(try await first.engine.token().name == "job2 g0")
        #expect([first, second, third].reduce(0) { $0 + $1.handler.calls.count } == 2)
        #expect([first, second, third].flatMap(\.revocation.revoked) == ["job1 g0"])
        #expect(await first.refuse(token).outcomes() == ["sessionEnded"], "G23")
    }

    @Test func `restore begins a session after each sign-out in a store of one process, and settles it`() async throws {
        let process = place.start(.own)
        for call in 1...2 {
            try await process.engine.signOut()
            #expect(await process.ask().outcomes() == ["notSignedIn"])
            let state = try await process.engine.restore()
            #expect(state == .signedIn(try #require(place.base.bundle).session))
            #expect(try await process.engine.token().name == "job\(call) g0")
            #expect(process.handler.calls.count == call && place.journal.entry.pending == nil)
        }
    }

    @Test func `restore says where no session can begin; an early sign-out revokes nothing`() async throws {
        let process = place.start(.shared)
        process.handler.add(.hang)
        process.store.fail(.save)
        #expect(await code { try await process.engine.restore() } == "storeUnavailable")
        process.store.recover(.save)
        try await process.engine.restore()
        try await process.engine.signOut()
        #expect(process.revocation.revoked.isEmpty)
        process.store.fail(.save)
        #expect(await code { try await process.engine.restore() } == "storeUnavailable")
        #expect(process.engine.state == .signedOut(.byUser))
    }

    @Test func `G30: tokens of a client that have vanished are replaced, as nothing is lost`() async throws {
        let process = place.start(.shared)
        _ = try await process.engine.token()
        #expect(await process.engine.settle())
        await place.base.delete()
        #expect(place.journal.entry.seen != nil)
        let next = place.start(.shared)
        #expect(try await next.engine.token().name == "job2 g0" && next.handler.calls.count == 1)
    }
}
