import AuthInterface
import AuthTesting
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

    /// Tokens of ada, whose sign-in has ordinal 5, or of bob, who signed in next.
    private func bundle(_ generation: Int = 0, of user: String = "ada") -> TokenBundle {
        TokenBundle(
            accessToken: "access-\(generation)", refreshToken: "refresh-\(generation)",
            expiresAt: clock.date + 3_600, session: SessionID(rawValue: user), generation: generation,
            receivedAt: clock.date, signedInAt: clock.date, ordinal: SessionOrdinal(rawValue: user == "bob" ? 6 : 5))
    }

    private func end(_ reason: SignOutReason = .byUser, of user: String = "ada", upTo ordinal: Int64 = 5)
        -> SessionTombstone
    {
        SessionTombstone(
            session: SessionID(rawValue: user), reason: reason, date: clock.date,
            upTo: SessionOrdinal(rawValue: ordinal) ?? .unknown)
    }

    private func tombstone(_ reason: SignOutReason = .byUser) -> StoredSession { .tombstone(end(reason)) }

    /// Saves tokens, and waits until they are published.
    private func publish(_ tokens: TokenBundle, by store: FollowedTokenStore) async throws {
        try await store.save(tokens)
        #expect(await store.settle())
    }

    /// Lets the pauses after failures pass, until a publication has succeeded.
    private func untilPublished(by store: FollowedTokenStore) async throws {
        try await until {
            if await store.settle() { return true }
            clock.advance(by: .seconds(30))
            return false
        }
    }

    /// Everything in a folder, as text.
    private func contents(of folder: URL) throws -> String {
        let files = try folder.names.map { try Data(contentsOf: folder.appendingPathComponent($0)) }
        return String(decoding: files.joined(), as: UTF8.self)
    }

    @Test(arguments: [SignOutReason.byUser, .expired(), .application("disabled")])
    func `G29, G35: followers get access tokens and the end, no refresh token`(reason: SignOutReason) async throws {
        let place = FileTokenStore(folder: temporary.fresh())
        let folder = place.file.deletingLastPathComponent()
        let store = FollowedTokenStore(owner, publishing: place, clock: clock)
        let intent = RefreshIntent(
            idempotencyKey: "key-of-the-intent", owner: .current, date: clock.date, isAbandoned: false)
        for generation in 0..<3 {
            try await publish(bundle(generation).with(refreshIntent: intent), by: store)
            #expect(try await place.read() == .active(bundle(generation).withoutRefreshToken))
            let text = try contents(of: folder)
            #expect(text.contains("access-\(generation)") && !text.contains("refresh-"))
            #expect(!text.contains("key-of-the-intent"))
        }
        #expect(try folder.permissions == "700" && place.file.permissions == "600")
        let ended = tombstone(reason)
        try await store.update { _ in ended }
        #expect(await store.settle())
        #expect(try await place.read() == ended)
        #expect(try !contents(of: folder).contains("access-"))
    }

    @Test func `G35: an expired token is removed from the file, and the session's name stays`() async throws {
        let place = FileTokenStore(folder: temporary.fresh())
        let store = FollowedTokenStore(owner, publishing: place, clock: clock)
        try await publish(bundle(), by: store)
        clock.setDate(clock.date + 30 * 86_400)
        #expect(await store.publishAgain())
        #expect(try await place.load()?.accessToken == "access-0", "a clock that is set removes nothing")
        clock.advance(by: .seconds(3_600))
        try await until { try await place.load()?.accessToken == "" }
        #expect(try await place.load()?.session.rawValue == "ada")
        #expect(try !contents(of: place.file.deletingLastPathComponent()).contains("access-"))
        try await publish(bundle(1), by: store)
        #expect(try await place.load()?.accessToken == "access-1")
    }

    @Test func `G29: what followers read is never newer than what the owner's store holds`() async throws {
        let base = FaultyTokenStore(RecordingTokenStore())
        let place = MemoryTokenStore()
        let store = FollowedTokenStore(base, publishing: place, clock: clock)
        try await publish(bundle(), by: store)
        let gate = base.hold(.save)
        let next = bundle(1)
        let saving = Task { try await store.save(next) }
        try await gate.arrivals(atLeast: 1)
        #expect(await store.publishAgain())
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

    @Test func `G29: a failed publication delays and fails no save, and is made again, an ending's too`() async throws {
        let place = FaultyTokenStore(RecordingTokenStore())
        let failures = Recorder<TokenStoreError>()
        let store = FollowedTokenStore(owner, publishing: place, clock: clock) { failures.record($0) }
        place.fail(.save)
        let gate = place.hold(.save)
        try await store.save(bundle())
        #expect(await owner.load() == bundle())
        gate.open()
        let ended = end()
        for content in [StoredSession.active(bundle().withoutRefreshToken), .tombstone(ended)] {
            if content == .tombstone(ended) { store.publish(ended) }
            #expect(await !store.settle())
            #expect(!failures.values.isEmpty)
            place.recover(.save)
            try await untilPublished(by: store)
            #expect(place.base.content == content)
            place.fail(.save)
        }
    }

    @Test func `A place with a refresh token is never written, such as the owner's own store`() async throws {
        let folder = temporary.fresh()
        let failures = Recorder<TokenStoreError>()
        let store = FollowedTokenStore(
            FileTokenStore(folder: folder), publishing: FileTokenStore(folder: folder), clock: clock
        ) { failures.record($0) }
        try await store.save(bundle())
        #expect(await !store.settle())
        #expect(try await store.load() == bundle())
        #expect(failures.values.map(\.code).contains(.insecure))
    }

    @Test func `G29: what the store says replaces the tokens in the place, and no ending that is not over`() {
        func replacement(_ stored: StoredSession, over found: StoredSession?) -> StoredSession? {
            Publication(of: stored, after: nil, clock).replacement(for: found)
        }
        let (old, new) = (StoredSession.active(bundle(1)), StoredSession.active(bundle(2)))
        let bob = StoredSession.active(bundle(of: "bob"))
        for (stored, found) in [
            (new, old), (old, new), (new, bob), (.empty, bob), (tombstone(), new), (tombstone(), bob), (new, .empty),
            (bob, tombstone()), (bob, .tombstone(end(upTo: 0))), (new, .tombstone(end(.lost()))),
            (tombstone(), .tombstone(end(.lost()))), (.tombstone(end(of: "bob", upTo: 6)), tombstone()),
        ] as [(StoredSession, StoredSession)] {
            let stored = stored.withoutRefreshToken
            #expect(replacement(stored, over: found.withoutRefreshToken) == stored, "\(stored) over \(found)")
        }
        for (stored, found) in [
            (new, new), (new, tombstone()), (new, .tombstone(end(of: "bob", upTo: 6))), (new, .tombstone(end(of: ""))),
            (new, .tombstone(end(upTo: 0))), (.empty, tombstone()), (.empty, .tombstone(end(.lost()))),
            (tombstone(), .tombstone(end(of: "bob", upTo: 6))), (new, .active(bundle(2).withoutTokens)),
        ] as [(StoredSession, StoredSession)] {
            #expect(replacement(stored, over: found.withoutRefreshToken) == nil, "\(stored) over \(found)")
        }
        #expect(replacement(new, over: nil) == new.withoutRefreshToken, "a place that cannot be read")
    }

    @Test func `G29: an ending that no store holds replaces what it ends, and no other ending that reaches as far`() {
        func replacement(_ ending: SessionTombstone, over found: StoredSession) -> StoredSession? {
            Publication(of: ending).replacement(for: found.withoutRefreshToken)
        }
        let (lost, expired) = (end(.lost()), end(.expired()))
        for found in [.active(bundle(9)), .empty, .tombstone(end(upTo: 4)), .tombstone(lost)] as [StoredSession] {
            #expect(replacement(end(), over: found) == tombstone(), "over \(found)")
        }
        for found in [.active(bundle(of: "bob")), .tombstone(expired), .tombstone(end(of: "bob"))] as [StoredSession] {
            #expect(replacement(end(), over: found) == nil, "over \(found)")
        }
        #expect(replacement(lost, over: .active(bundle())) == .tombstone(lost))
        #expect(replacement(lost, over: tombstone()) == nil)
    }

    @Test func `G35: a token is published for its lifetime, and no clock of another host counts`() {
        let tokens = bundle()
        for hours in [-2.0, 0.5, 2] {
            clock.setDate((tokens.receivedAt ?? .distantPast) + hours * 3_600)
            let publication = Publication(of: .active(tokens), after: nil, clock)
            #expect(publication.content.bundle?.accessToken == "access-0", "\(hours) h")
            #expect(publication.end == clock.uptime + .seconds(3_600), "\(hours) h")
        }
        func end(_ expiresAt: Date) -> Publication {
            let undated = TokenBundle(accessToken: "access-0", refreshToken: nil, expiresAt: expiresAt)
            return Publication(of: .active(undated), after: nil, clock)
        }
        #expect(end(clock.date + 60).end == clock.uptime + .seconds(60), "without a lifetime the date counts")
        #expect(end(clock.date - 60).content.bundle?.accessToken == "")
        #expect(end(Date(timeIntervalSince1970: 1e300)).end == nil, "an expiry that is no date")
    }

    @Test func `G29: the place is read again after a write, as it may have changed before it`() async throws {
        let place = FaultyTokenStore(RecordingTokenStore())
        let (old, new) = (bundle().withoutRefreshToken, bundle(1))
        await owner.update { _ in .active(new) }
        // Without the watches of a store, which would publish again.
        let publisher = SessionPublisher(from: owner, to: place, clock: clock, onFailure: nil)
        let gate = place.hold(.save)
        publisher.publish()
        try await gate.arrivals(atLeast: 1)
        await place.base.save(old)
        #expect(await !publisher.settle(within: .zero), "the limit has passed")
        gate.open()
        #expect(await publisher.settle(within: .seconds(5)))
        #expect(place.base.bundle == new.withoutRefreshToken)
    }

    @Test(arguments: [false, true])
    func `G29: a process stopped between its read and its write brings back no user`(isBobIn: Bool) async throws {
        let (place, slow) = (RecordingTokenStore(clock: clock), FaultyTokenStore(owner))
        let (first, ended, next) = (bundle(), tombstone(), bundle(of: "bob"))
        await owner.update { _ in .active(first) }
        let gate = slow.hold(.load, .after)
        let stopped = FollowedTokenStore(slow, publishing: place, clock: clock)
        stopped.publisher.publish()
        try await gate.arrivals(atLeast: 1)
        await owner.update { _ in ended }
        let other = FollowedTokenStore(owner, publishing: place, clock: clock)
        #expect(await other.publishAgain())
        #expect(place.content == ended)
        if isBobIn { try await publish(next, by: other) }
        gate.open()
        #expect(await stopped.settle())
        #expect(place.content == (isBobIn ? .active(next.withoutRefreshToken) : ended))
        #expect(!place.events.contains(.save(first.withoutRefreshToken)))
    }

    @Test func `G29: an old file that is put back is replaced, at the start and while it runs`() async throws {
        let place = FileTokenStore(folder: temporary.fresh())
        let copy = temporary.fresh()
        let ended = tombstone()
        try await place.save(bundle().withoutRefreshToken)
        try FileManager.default.copyItem(at: place.file, to: copy)
        try copy.setPermissions(0o600)
        await owner.update { _ in ended }
        let store = FollowedTokenStore(owner, publishing: place, clock: clock)
        #expect(await store.settle())
        #expect(try await place.read() == ended)
        #expect(rename(copy.path, place.file.path) == 0)
        try await until {
            clock.advance(by: FollowedTokenStore.polling)
            await store.settle()
            return try await place.read() == ended
        }
    }

    @Test(arguments: [false, true])
    func `G29: an ending that no store takes is published, and its session stays ended`(isRead: Bool) async throws {
        let base = FaultyTokenStore(RecordingTokenStore())
        let place = MemoryTokenStore()
        let store = FollowedTokenStore(base, publishing: place, clock: clock)
        try await publish(bundle(), by: store)
        if !isRead { base.fail(.load) }
        store.publish(end())
        #expect(await store.settle())
        #expect(await place.read() == tombstone())
        base.recover(.load)
        try await store.save(bundle(1))
        let other = FollowedTokenStore(base, publishing: place, clock: clock)
        for process in [store, other] {
            #expect(await process.publishAgain())
            #expect(await place.read() == tombstone(), "what the store holds of it later")
        }
        try await publish(bundle(of: "bob"), by: store)
        #expect(await place.read() == .active(bundle(of: "bob").withoutRefreshToken))
        try await store.delete()
        #expect(await store.settle())
        #expect(await place.read() == .empty, "the ending is forgotten")
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
    fileprivate func publishAgain() async -> Bool {
        publisher.publish()
        return await settle()
    }
}
