import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import TestSupport
import Testing

@testable import Storage

/// G29, G35: the owner's store publishes the access token in a place that never holds the refresh token.
@Suite(.timeLimit(.minutes(10))) struct FollowedTokenStoreTests {
    private let temporary = TemporaryFolder()
    private let clock = ManualTimeSource()
    private let owner = MemoryTokenStore()

    private func bundle(_ generation: Int = 0, lifetime: TimeInterval = 3_600) -> TokenBundle {
        TokenBundle(
            accessToken: "access-\(generation)", refreshToken: "refresh-\(generation)",
            expiresAt: clock.date + lifetime, session: SessionID(rawValue: "ada"), generation: generation,
            receivedAt: clock.date, signedInAt: clock.date)
    }

    private func tombstone(_ reason: SignOutReason = .byUser) -> StoredSession {
        .tombstone(SessionTombstone(session: SessionID(rawValue: "ada"), reason: reason, date: clock.date))
    }

    /// Everything in a folder, as text.
    private func contents(of folder: URL) throws -> String {
        let files = try folder.names.map { try Data(contentsOf: folder.appendingPathComponent($0)) }
        return String(decoding: files.joined(), as: UTF8.self)
    }

    @Test func `G29: the followers' file gets the access token after each save, and never the refresh token`()
        async throws
    {
        let place = FileTokenStore(folder: temporary.fresh())
        let folder = place.file.deletingLastPathComponent()
        let store = FollowedTokenStore(owner, publishing: place, clock: clock)
        let intent = RefreshIntent(
            idempotencyKey: "key-of-the-intent", owner: .current, date: clock.date, isAbandoned: false)
        for generation in 0..<3 {
            try await store.save(bundle(generation).with(refreshIntent: intent))
            #expect(await store.settle())
            #expect(try await place.read() == .active(bundle(generation).withoutRefreshToken))
            let text = try contents(of: folder)
            #expect(text.contains("access-\(generation)") && !text.contains("refresh-"))
            #expect(!text.contains("key-of-the-intent"))
        }
        #expect(try folder.permissions == "700" && place.file.permissions == "600")
    }

    @Test(arguments: [SignOutReason.byUser, .expired(), .application("disabled")])
    func `G29, G35: the owner's ending removes the token from the file, and its reason stays`(reason: SignOutReason)
        async throws
    {
        let place = FileTokenStore(folder: temporary.fresh())
        let store = FollowedTokenStore(owner, publishing: place, clock: clock)
        try await store.save(bundle())
        #expect(await store.settle())
        let ended = tombstone(reason)
        try await store.update { _ in ended }
        #expect(await store.settle())
        #expect(try await place.read() == ended)
        #expect(try !contents(of: place.file.deletingLastPathComponent()).contains("access-"))
    }

    @Test func `G35: an expired token is removed from the file, and the session's name stays`() async throws {
        let place = FileTokenStore(folder: temporary.fresh())
        let store = FollowedTokenStore(owner, publishing: place, clock: clock)
        try await store.save(bundle())
        #expect(await store.settle())
        clock.setDate(clock.date + 30 * 86_400)
        store.publishAgain()
        #expect(await store.settle())
        #expect(try await place.load()?.accessToken == "access-0", "a clock that is set removes nothing")
        clock.advance(by: .seconds(3_600))
        try await until { try await place.load()?.accessToken == "" }
        #expect(try await place.load()?.session.rawValue == "ada")
        #expect(try !contents(of: place.file.deletingLastPathComponent()).contains("access-"))
        try await store.save(bundle(1))
        #expect(await store.settle())
        #expect(try await place.load()?.accessToken == "access-1")
    }

    @Test func `G29: what followers read is never newer than what the owner's store holds`() async throws {
        let base = FaultyTokenStore(RecordingTokenStore())
        let place = MemoryTokenStore()
        let store = FollowedTokenStore(base, publishing: place, clock: clock)
        try await store.save(bundle())
        #expect(await store.settle())
        let gate = base.hold(.save)
        let next = bundle(1)
        let saving = Task { try await store.save(next) }
        await gate.arrivals(atLeast: 1)
        store.publishAgain()
        #expect(await store.settle())
        #expect(await place.load()?.generation == 0)
        gate.open()
        try await saving.value
        #expect(await store.settle())
        #expect(await place.load()?.generation == 1)
        base.fail(.save)
        await #expect(throws: TokenStoreError.self) { try await store.save(bundle(2)) }
        #expect(await store.settle())
        #expect(await place.load()?.generation == 1)
    }

    @Test func `What a killed process has not published is published at the next start`() async throws {
        let place = MemoryTokenStore(holding: bundle().withoutRefreshToken)
        let (newest, ended) = (bundle(4), tombstone(.expired()))
        await owner.update { _ in .active(newest) }
        let store = FollowedTokenStore(owner, publishing: place, clock: clock)
        #expect(try await store.load()?.generation == 4)
        #expect(await store.settle())
        #expect(await place.load() == bundle(4).withoutRefreshToken)
        await owner.update { _ in ended }
        try await until { await place.read() == ended }
    }

    @Test func `A publication that fails delays and fails no save, and is made again`() async throws {
        let place = FaultyTokenStore(RecordingTokenStore())
        let failures = Locked<[TokenStoreError]>([])
        let store = FollowedTokenStore(owner, publishing: place, clock: clock) { error in
            failures.withLock { $0.append(error) }
        }
        place.fail(.save, times: 2)
        let gate = place.hold(.save)
        try await store.save(bundle())
        #expect(await owner.load() == bundle())
        gate.open()
        #expect(await !store.settle())
        for count in 1...2 {
            try await until { failures.withLock { $0.count } == count }
            clock.advance(by: .seconds(2))
        }
        try await until { place.base.bundle != nil }
        #expect(failures.withLock { $0.count } == 2)
    }

    @Test func `A place with a refresh token is never written: the owner's own store as its place keeps the session`()
        async throws
    {
        let folder = temporary.fresh()
        let failures = Locked<[TokenStoreError.Code]>([])
        let store = FollowedTokenStore(
            FileTokenStore(folder: folder), publishing: FileTokenStore(folder: folder), clock: clock
        ) { error in
            failures.withLock { $0.append(error.code) }
        }
        try await store.save(bundle())
        #expect(await !store.settle())
        #expect(try await store.load() == bundle())
        #expect(failures.withLock { $0 }.contains(.insecure))
    }

    @Test func `G29: a process that publishes late brings back neither an older token nor an ended session`() {
        func replacement(_ stored: StoredSession, over found: StoredSession) -> StoredSession? {
            Publication(of: stored, after: nil, clock).replacement(for: found)
        }
        let (old, new) = (StoredSession.active(bundle(1)), StoredSession.active(bundle(2)))
        #expect(replacement(old, over: new.withoutRefreshToken) == nil)
        #expect(replacement(new, over: old.withoutRefreshToken) == new.withoutRefreshToken)
        #expect(replacement(new, over: new.withoutRefreshToken) == nil)
        #expect(replacement(new, over: tombstone()) == nil)
        #expect(replacement(tombstone(), over: new.withoutRefreshToken) == tombstone())
        #expect(replacement(.empty, over: tombstone()) == nil)
        #expect(replacement(.empty, over: new.withoutRefreshToken) == .empty)
    }

    @Test func `A followed store keeps the contracts of its store`() async throws {
        try await TokenStoreContract.check(reopen: { $0 }) {
            FollowedTokenStore(MemoryTokenStore(), publishing: MemoryTokenStore())
        }
        try await SharedTokenStoreContract.check {
            FollowedTokenStore(MemoryTokenStore(), publishing: MemoryTokenStore())
        }
    }
}

extension FollowedTokenStore {
    /// Publishes as after a change of the owner's store.
    fileprivate func publishAgain() { publisher.publish() }
}
