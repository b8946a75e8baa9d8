import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import Storage
import TestSupport
import Testing

@testable import TokenRefresh

/// G1, G5, G9, G13, G22, G30: sessions that no user signs in, as the handler needs no refresh token.
@Suite(.timeLimit(.minutes(10))) struct ClientSessionTests {
    /// The call of a client for itself. Its tokens are `access-job-1`, `access-job-2`.
    private struct ClientHandler: TokenRefreshHandler {
        let script: ScriptedRefreshHandler
        var needsRefreshToken: Bool { false }

        init() {
            let count = Locked(0)
            script = ScriptedRefreshHandler(
                otherwise: .custom { _, _ in
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    return TokenRefreshResult(accessToken: "access-job-\(number)", expiresIn: .seconds(3_600))
                })
        }

        func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
            try await script.refresh(request)
        }
    }

    /// A device, and the processes on it.
    private struct Device {
        let handler = ClientHandler()
        let clock = ManualTimeSource()
        let base: RecordingTokenStore
        let journal = MemorySessionJournal()
        let revocation = RecordingRevocation()
        let events = EventLog()

        init() { base = RecordingTokenStore(clock: clock) }

        var calls: Int { handler.script.calls.count }

        func start(_ kind: Bench.StoreKind = .shared, over store: (any TokenStore)? = nil) -> TokenRefreshCoordinator {
            TokenRefreshCoordinator(
                over: store ?? (kind == .shared ? base : OwnTokenStore(base: base)), handler, journal: journal,
                revocation: revocation, clock: clock, events: events)
        }
    }

    @Test(arguments: Bench.StoreKind.allCases)
    func `G1, G22: the first requests begin a session and make one call`(kind: Bench.StoreKind) async throws {
        let device = Device()
        let gate = Gate()
        device.handler.script.add(
            .held(at: gate, then: .tokens(TokenRefreshResult(accessToken: "access-job-1", expiresIn: .seconds(60)))))
        let engine = device.start(kind)
        let requests = (0..<100).map { _ in Task { try await engine.token() } }
        try await until { engine.core.withLock { $0.waiters.count } == 100 }
        gate.open()
        #expect(Set(await requests.outcomes()) == ["job g1"])
        try await device.events.first("signedIn")
        #expect(device.calls == 1 && device.events.count("signedIn") == 1 && device.events.count("signedOut") == 0)
        #expect(device.base.bundle?.generation == 1 && engine.status.isRefreshable)
    }

    @Test func `restore begins a session and makes the first call, for which it does not wait`() async throws {
        let device = Device()
        let gate = Gate()
        device.handler.script.add(.held(at: gate, then: .failure(TokenRefreshError.unavailable)))
        let engine = device.start()
        #expect(try await engine.restore() == .signedIn(try #require(device.base.bundle).session))
        try #require(engine.status.isRefreshing)
        try await gate.arrivals(atLeast: 1)
        gate.open()
        #expect(try await engine.token().name == "job g1", "its lost response is repeated")
    }

    @Test func `G13: a second process adopts the token over a file, and a third finds it later`() async throws {
        let temporary = TemporaryFolder()
        let (device, folder) = (Device(), temporary.fresh())
        func start() -> TokenRefreshCoordinator { device.start(over: FileTokenStore(folder: folder)) }
        let (first, second) = (start(), start())
        #expect(try await first.token().name == "job g1")
        #expect(try await second.token().name == "job g1")
        #expect(try await start().restore() == first.state && second.state == first.state)
        #expect(device.calls == 1)
    }

    @Test func `G13: processes that begin at once have one session, and neither ends that of the other`() async throws {
        let device = Device()
        let slow = FaultyTokenStore(device.base)
        let gate = slow.hold(.load, .after)
        let second = device.start(over: slow)
        let request = Task { try await second.token() }
        try await gate.arrivals(atLeast: 1)
        // The other one has found the store empty, and begins later.
        let first = device.start()
        #expect(try await first.token().name == "job g1")
        device.clock.advance(by: .seconds(1))
        gate.open()
        #expect(await request.outcome() == "job g1")
        #expect(second.state == first.state && device.calls == 1 && device.events.count("signedOut") == 0)
    }

    @Test func `G6: a refused client is a typed error and no ending, and no process calls before its pause has passed`()
        async throws
    {
        let device = Device()
        device.handler.script.add(
            .failure(
                TokenRefreshError(.unavailable, retryAfter: .seconds(300), status: 401, serverCode: "invalid_client")))
        let first = device.start()
        for engine in [first, device.start()] {
            let error = await #expect(throws: AuthenticationError.self) { try await engine.token() }
            #expect(error?.code == .refreshUnavailable)
            #expect((error?.cause as? TokenRefreshError)?.serverCode == "invalid_client")
            #expect(engine.state == .signedIn(try #require(device.base.bundle).session))
            #expect(await engine.settle())
        }
        #expect(device.calls == 1)
        device.clock.advance(by: .seconds(300))
        #expect(try await first.token().name == "job g1")
    }

    @Test func `G5: a sign-out stops the requests of every process, until restore`() async throws {
        let device = Device()
        let (first, second) = (device.start(), device.start())
        let token = try await first.token()
        _ = try await second.token()
        try await first.signOut()
        try await until { second.state == .signedOut(.byUser) }
        for engine in [first, second, device.start()] {
            #expect(await code { _ = try await engine.token() } == "notSignedIn")
        }
        let state = try await device.start().restore()
        #expect(state != .signedIn(token.session))
        try await until { first.state == state && second.state == state }
        #expect(try await first.token().name == "job g2")
        #expect(device.calls == 2 && device.revocation.revoked == ["job g1"])
        #expect(await code { _ = try await first.replacement(for: token) } == "sessionEnded", "G23")
    }

    @Test func `restore begins a session after each sign-out in a store of one process, too, and settles it`()
        async throws
    {
        let device = Device()
        let engine = device.start(.own)
        for call in 1...2 {
            try await engine.signOut()
            #expect(await code { _ = try await engine.token() } == "notSignedIn")
            let state = try await engine.restore()
            #expect(state == .signedIn(try #require(device.base.bundle).session))
            #expect(try await engine.token().name == "job g\(call)")
            #expect(device.calls == call && device.journal.entry.pending == nil)
        }
    }

    @Test func `restore says where no session can begin, and a sign-out before the first token revokes nothing`()
        async throws
    {
        let device = Device()
        device.handler.script.add(.hang)
        let store = FaultyTokenStore(device.base)
        let engine = device.start(over: store)
        store.fail(.save)
        #expect(await code { try await engine.restore() } == "storeUnavailable")
        store.recover(.save)
        try await engine.restore()
        try await engine.signOut()
        #expect(device.revocation.revoked.isEmpty)
        store.fail(.save)
        #expect(await code { try await engine.restore() } == "storeUnavailable")
        #expect(engine.state == .signedOut(.byUser))
    }

    @Test func `G30: tokens of a client that have vanished are replaced, as nothing is lost`() async throws {
        let device = Device()
        let engine = device.start()
        _ = try await engine.token()
        #expect(await engine.settle())
        await device.base.delete()
        #expect(device.journal.entry.seen != nil)
        #expect(try await device.start().token().name == "job g2")
        #expect(device.calls == 2)
    }
}
