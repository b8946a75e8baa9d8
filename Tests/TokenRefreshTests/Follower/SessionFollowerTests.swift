import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import TestSupport
import Testing

@testable import TokenRefresh

/// G29: a follower beside its owner, over one store and over what an application hands in.
@Suite(.timeLimit(.minutes(10))) struct SessionFollowerTests {
    @Test func `G29: a follower notices what its owner stores, and gets its new token without a call`() async throws {
        let owner = Bench(.shared)
        let follower = SessionFollower(owner.store, clock: owner.clock)
        var states = follower.states.makeAsyncIterator()
        #expect(await states.next() == .unknown)
        #expect(await states.next() == .signedOut(.never))
        let token = try await owner.signIn()
        #expect(await states.next() == .signedIn(token.session))
        let old = try await follower.token()
        #expect(old.value == token.value)
        let waiting = Task { try await follower.replacement(for: old) }
        try await until { follower.core.withLock { !$0.callers.waiters.isEmpty } }
        #expect(owner.handler.calls.isEmpty)
        let fresh = try await owner.engine.replacement(for: token)
        #expect(try await waiting.value.value == fresh.value && follower.validToken?.value == fresh.value)
        #expect(owner.handler.calls.count == 1 && owner.store.calls(.lease) == 1, "the owner's")
        try await owner.engine.signOut(reason: .application("disabled"))
        #expect(await states.next() == .signedOut(.application("disabled")))
        await #expect(throws: AuthenticationError.self) { try await follower.token() }
    }

    @Test func `G29: no part of a follower holds the refresh token or the key of an intent`() async throws {
        let intent = RefreshIntent(
            idempotencyKey: "key-of-the-intent", owner: .current, date: Date(), isAbandoned: false)
        let bundle = TokenBundle.fixture().with(refreshIntent: intent)
        let secret = try #require(bundle.refreshToken)
        let store = RecordingTokenStore(holding: bundle)
        let reader = SessionFollower(store, clock: ManualTimeSource())
        let receiver = SessionFollower(clock: ManualTimeSource())
        receiver.follow(bundle)
        for follower in [reader, receiver] {
            #expect(try await follower.token().refreshToken == nil)
            let current = try #require(follower.core.withLock { $0.machine.current?.bundle })
            #expect(current.refreshToken == nil && current.refreshIntent == nil)
            let text = "\(follower.core.withLock { String(reflecting: Mirror(reflecting: $0.machine)) })"
            #expect(!text.contains(secret) && !text.contains("key-of-the-intent"))
        }
        let stored = try JSONEncoder().encode(bundle.withoutRefreshToken)
        let sent = try #require(String(data: stored, encoding: .utf8))
        #expect(!sent.contains(secret) && !sent.contains("key-of-the-intent") && sent.contains(bundle.accessToken))
        #expect(bundle.withoutRefreshToken.signedInAt == bundle.signedInAt)
    }

    @Test func `G29: what is handed in serves all that wait for it, and after the end it does not`() async throws {
        let asked = Locked(0)
        let follower = SessionFollower(clock: ManualTimeSource(), bundleNeeded: { asked.withLock { $0 += 1 } })
        let waiting = (0..<100).map { _ in Task { try await follower.token() } }
        try await until { follower.core.withLock { $0.callers.waiters.count } == 100 }
        #expect(asked.withLock { $0 } == 1)
        follower.follow(.fixture(generation: 2))
        for request in waiting { #expect(try await request.value.generation == 2) }
        let session = try await follower.token().session
        follower.follow(.tombstone(SessionTombstone(session: session, reason: .expired(), date: Date())))
        follower.follow(.fixture(generation: 3))
        #expect(follower.state == .signedOut(.expired()))
    }

    @Test func `A source that cannot report changes is polled, and a sign-out is noticed in seconds`() async throws {
        let (store, clock) = (FaultyTokenStore(RecordingTokenStore(holding: .fixture())), ManualTimeSource())
        store.fail(.watch)
        let follower = SessionFollower(store, clock: clock)
        try await follower.restore()
        let owner = TokenRefreshCoordinator(over: store.base)
        try await owner.signOut()
        try await clock.advance(by: .seconds(1), until: { follower.state == .signedOut(.byUser) })
    }

    @Test func `G14: a source that hangs or fails is unavailable, and is followed when it works`() async throws {
        let (store, clock) = (FaultyTokenStore(RecordingTokenStore(holding: .fixture())), ManualTimeSource())
        let gate = store.hold(.load)
        let follower = SessionFollower(store, clock: clock)
        let waiting = Task { try await follower.restore() }
        try await gate.arrivals(atLeast: 1)
        try await clock.advance(by: .seconds(10), until: { follower.core.withLock { $0.callers.waiters.isEmpty } })
        await #expect(throws: AuthenticationError.self) { try await waiting.value }
        #expect(follower.state == .unknown)
        // G26: no read follows that would hang too.
        let later = Task { try await follower.restore() }
        for _ in 0..<12 {
            clock.advance(by: .seconds(1))
            await settle()
        }
        #expect(gate.arrivals == 1)
        later.cancel()
        store.recover(.load)
        gate.open()
        try await clock.advance(by: .seconds(1), until: { follower.validToken != nil })
    }

    @Test func `G7: a cancelled request of a follower returns at once`() async throws {
        let follower = SessionFollower(clock: ManualTimeSource())
        let waiting = Task { try await follower.token() }
        try await until { follower.core.withLock { !$0.callers.waiters.isEmpty } }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(follower.core.withLock { $0.callers.waiters.isEmpty })
    }

    @Test func `A follower that is released leaves no task behind`() async throws {
        let (store, clock) = (RecordingTokenStore(holding: .fixture()), ManualTimeSource())
        weak var released: SessionFollower?
        do {
            let follower = SessionFollower(store, clock: clock)
            _ = try await follower.token()
            released = follower
        }
        try await until { released == nil }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `G18: a valid token of a follower suspends no caller and reads nothing`() async throws {
        let store = FaultyTokenStore(RecordingTokenStore(holding: .fixture()))
        let follower = SessionFollower(store, clock: ManualTimeSource())
        _ = try await follower.token()
        try await until { follower.core.withLock { $0.watcher != nil } && store.calls(.load) >= 1 }
        for _ in 0..<2_000 { #expect(askAtOnce(follower).isDone) }
        #expect(store.calls(.load) <= 2, "the first request's, and that of the watch")
    }
}
