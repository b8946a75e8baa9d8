import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import Testing

@testable import TokenRefresh

/// G18, G3: a valid token costs nothing.
@Suite(.timeLimit(.minutes(10))) struct HotPathTests {
    @Test func `G18: a valid token causes no call of the store or the handler`() async throws {
        let bench = try await Bench.signedIn(.shared)
        let reads = bench.store.calls(.load)
        let steps = bench.engine.core.withLock { $0.callers.nextNumber() }
        for _ in 0..<100_000 { _ = try await bench.engine.token() }
        #expect(bench.store.calls(.load) <= reads + 1, "at most one check, after the report of its own sign-in")
        #expect(bench.store.calls(.save) == 1 && bench.store.calls(.record) == 0 && bench.store.calls(.delete) == 0)
        #expect(bench.handler.calls.isEmpty)
        #expect(bench.engine.core.withLock { $0.callers.nextNumber() } == steps + 1, "the machine was not asked either")
    }

    @Test func `G18: the token at hand is that of a request, until it has to be refreshed`() async throws {
        let start = ManualTimeSource().date
        let bench = Bench(holding: .stored("ada", 4, expiresAt: start + 3_600, clockSkew: 0.5))
        #expect(bench.engine.validToken == nil && bench.store.base.events == [], "an unused engine reads nothing")
        try await bench.engine.restore()
        #expect(bench.engine.validToken?.name == "ada g4")
        bench.engine.noteServerDate(start + 3_600)
        #expect(bench.engine.validToken == nil, "it has expired on the server's clock")
        let token = try await bench.signIn()
        #expect(bench.engine.validToken == token)
        _ = try await bench.engine.replacement(for: token)
        #expect(bench.engine.validToken?.name == "ada1 g1")
        bench.passToAhead()
        #expect(bench.engine.validToken == nil, "its refresh in the background begins with a request")
        try await bench.signIn("bob")
        try await bench.engine.signOut()
        #expect(bench.engine.validToken == nil)
    }

    @Test(arguments: [StoreOperation.lease, .load, .record, .save, nil])
    func `G37: a request with a valid token waits for no background refresh`(held: StoreOperation?) async throws {
        let (bench, token) = try await Bench.withToken(.shared)
        await bench.engine.settle()
        let gate = held.map { bench.store.hold($0, .before) } ?? bench.handler.holdNext()
        bench.passToAhead()
        #expect(try await bench.engine.token() == token)
        try await gate.arrivals(atLeast: 1)
        for _ in 0..<10 { #expect(try await bench.engine.token() == token) }
        gate.open()
        #expect(await bench.engine.settle())
        #expect(bench.handler.calls.count == 1 && bench.engine.validToken?.name == "ada1 g1")
    }

    @Test func `G37: nor for a check of the store, or for the revocation of another session`() async throws {
        let bench = try await Bench.signedIn(.shared)
        let revocation = bench.revocation.hold()
        let bob = bench.server.signIn("bob")
        try await bench.engine.signIn(bob)
        try await revocation.arrivals(atLeast: 1)
        let check = bench.store.hold(.load, .before)
        let restored = Task { try await bench.engine.restore() }
        try await check.arrivals(atLeast: 1)
        #expect(try await bench.engine.token().value == bob.accessToken)
        check.open()
        revocation.open()
        _ = try await restored.value
        #expect(await bench.engine.settle())
    }

    @Test func `a date that many responses have tells the time once, when it was new`() async throws {
        let bench = Bench()
        let date = Date(timeIntervalSince1970: 1_800_000_000)
        bench.engine.noteServerDate(date)
        bench.clock.advance(by: .seconds(10))
        bench.engine.noteServerDate(date)
        try await bench.engine.signIn(TokenRefreshResult(accessToken: "access", expiresIn: .seconds(100)))
        #expect(bench.engine.status.expiresAt == date + 110)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `G18: a valid token does not suspend its caller; one that must be refreshed does`() async throws {
        let bench = try await Bench.signedIn()
        for _ in 0..<2_000 { #expect(askAtOnce(bench.engine).isDone) }
        bench.clock.advance(by: .seconds(86_400))
        let gate = bench.handler.holdNext()
        let (isDone, request) = askAtOnce(bench.engine)
        try await gate.arrivals(atLeast: 1)
        #expect(!isDone)
        gate.open()
        try await request.value
    }

    @Test func `G18: the hung refresh of one account, or its hung store, delays no other account`() async throws {
        let ada = try await Bench.signedIn(.shared)
        let (gate, waiting) = try await ada.startRefresh(of: try await ada.engine.token(), requests: 1_000)
        let eve = try await Bench.signedIn(.shared)
        let disk = eve.store.hold(.save)
        let stuck = eve.refuse(try await eve.engine.token(), times: 1_000)
        try await disk.arrivals(atLeast: 1)
        let bob = try await Bench.signedIn(.shared)
        let requests = bob.refuse(try await bob.engine.token(), times: 100)
        #expect(Set(await requests.outcomes()) == ["ada1 g1"])
        #expect(ada.handler.calls.count == 1 && ada.store.base.bundle?.generation == 0)
        gate.open()
        disk.open()
        #expect(Set(await (waiting + stuck).outcomes()) == ["ada1 g1"])
    }
}
