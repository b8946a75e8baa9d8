import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import Foundation
import Storage
import TestSupport
import Testing

@testable import TokenRefresh

/// A session that moves from one store to another has one holder at each instant.
@Suite(.timeLimit(.minutes(10))) struct SessionMoveTests {
    private let temporary = TemporaryFolder()
    private let handler = ScriptedRefreshHandler()

    /// The clock is the system's, as a folder that cannot be watched is read again after pauses; a busy machine reaches
    /// no limit.
    private let policy = {
        var policy = TokenRefreshPolicy()
        (policy.deadline, policy.storeDeadline) = (.seconds(86_400), .seconds(86_400))
        return policy
    }()

    private var store: FileTokenStore { FileTokenStore(folder: temporary.url.appendingPathComponent("tokens")) }

    @Test func `the tokens are received before the session ends, and every process follows without a revocation`()
        async throws
    {
        try await store.save(.fixture())
        let revocation = RecordingRevocation()
        let engine = TokenRefreshCoordinator(store: store, handler: handler, revocation: revocation, policy: policy)
        _ = try await engine.token()
        let states = engine.states
        let announced = Locked<SessionTombstone?>(nil)
        let received = try await store.moveOut { bundle, tombstone in
            announced.withLock { $0 = tombstone }
            let stored = try await store.load()
            #expect(stored == bundle)
        }
        #expect(received == .fixture())
        #expect(try await store.load() == nil)
        for await state in states where state == .signedOut(.moved) { break }
        #expect(await engine.settle())
        #expect(revocation.revoked.isEmpty)
        guard case .tombstone(let tombstone) = try await store.read() else { throw AuthenticationError(.sessionEnded) }
        #expect(tombstone.reason == .moved && tombstone.session == received.session)
        #expect(announced.withLock { $0 } == tombstone, "to its date")
    }

    @Test func `a session that was not received stays`() async throws {
        try await store.save(.fixture())
        await #expect(throws: CancellationError.self) {
            try await store.moveOut { _, _ in throw CancellationError() }
        }
        #expect(try await store.load() == .fixture())
        let lease = try await store.lease(waitingAtMost: .zero)
        await lease.release()
    }

    @Test func `without a session nothing is moved`() async throws {
        await #expect { try await store.moveOut { _, _ in } } throws: {
            ($0 as? AuthenticationError)?.code == .notSignedIn
        }
    }

    @Test func `a session is not moved while a process refreshes it`() async throws {
        try await store.save(.fixture())
        let lease = try await store.lease(waitingAtMost: .zero)
        await #expect { try await store.moveOut(waitingAtMost: .zero) { _, _ in } } throws: {
            ($0 as? TokenStoreError)?.code == .busy
        }
        await lease.release()
        let intent = RefreshIntent(idempotencyKey: "fixture-key", owner: .current, date: Date())
        try await store.update { _ in .active(TokenBundle.fixture().with(refreshIntent: intent)) }
        await #expect { try await store.moveOut { _, _ in } } throws: { ($0 as? TokenStoreError)?.code == .busy }
        #expect(try await store.load() != nil)
    }

    @Test func `a session that changes while it is received stays`() async throws {
        try await store.save(.fixture())
        let next = TokenBundle(
            accessToken: "fixture-next", refreshToken: nil, session: TokenBundle.fixture().session, generation: 9)
        await #expect { try await store.moveOut { _, _ in try await store.save(next) } } throws: {
            ($0 as? TokenStoreError)?.code == .superseded
        }
        #expect(try await store.load() == next)
    }

    @Test func `a session returns to its store, and to no store that has a session`() async throws {
        try await store.save(.fixture())
        let bundle = try await store.moveOut { _, _ in }
        let engine = TokenRefreshCoordinator(store: store, handler: handler, policy: policy)
        #expect(try await engine.restore() == .signedOut(.moved))
        #expect(try await store.moveIn(bundle) == nil)
        let found = try #require(try await store.moveIn(bundle)?.bundle)
        #expect(found.hasSameTokens(as: bundle), "the second time it is there already")
        let states = engine.states
        for await state in states where state == .signedIn(bundle.session) { break }
        #expect(try await engine.token().value == bundle.accessToken)
    }

    @Test func `G29: a session that began before the one it replaces is followed once it was moved in`() async throws {
        let now = Date()
        func bundle(_ name: String, age: TimeInterval) -> TokenBundle {
            TokenBundle(
                accessToken: "access-\(name)", refreshToken: "refresh-\(name)", session: SessionID(rawValue: name),
                signedInAt: now - age)
        }
        let store = MemoryTokenStore(holding: bundle("bob", age: 60))
        var policy = FollowerPolicy()
        policy.bundleWait = .seconds(3_600)
        let follower = SessionFollower(store, policy: policy)
        #expect(try await follower.token().session == SessionID(rawValue: "bob"))
        await store.update { _ in
            .tombstone(SessionTombstone(session: SessionID(rawValue: "bob"), reason: .byUser, date: now))
        }
        #expect(try await store.moveIn(bundle("ada", age: 86_400)) == nil)
        try await until { follower.state == .signedIn(SessionID(rawValue: "ada")) }
    }

    @Test func `a session that has ended in another way does not return`() async throws {
        try await store.save(.fixture())
        let bundle = try #require(try await store.load())
        let tombstone = StoredSession.tombstone(
            SessionTombstone(session: bundle.session, reason: .byUser, date: Date()))
        try await store.update { _ in tombstone }
        #expect(try await store.moveIn(bundle) == tombstone)
        #expect(try await store.load() == nil)
    }
}
