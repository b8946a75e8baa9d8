import AuthInterface
import AuthTesting
import ContractTesting
import Foundation
import Storage
import Testing

@testable import TokenRefresh

/// G9, G13, G14: the outcome of a read, and of a write to a shared store.
@Suite(.timeLimit(.minutes(10))) struct StoreAccessTests {
    private struct Odd: Error {}

    private func access(_ store: any TokenStore) -> StoreAccess { StoreAccess(store: store) }

    @Test(arguments: [Odd(), CancellationError(), TokenStoreError(.corrupt, reason: "cut off")] as [any Error])
    func `G14: an error of any type, a corrupt file included, does not count as an empty store`(error: any Error) async
    {
        let store = FaultyTokenStore(RecordingTokenStore(holding: .fixture()))
        store.fail(.load, with: error)
        for base in [store, OwnTokenStore(base: store)] as [any TokenStore] {
            let found = await access(base).read()
            #expect(throws: TokenStoreError.self) { try found.get() }
        }
        #expect(store.base.bundle == .fixture() && store.calls(.delete) == 0)
    }

    private let endOfAda = StoreContent.tombstone(
        .byUser, at: Date(), of: .session(SessionID(rawValue: "ada"), upTo: .unknown)
    )

    @Test func `G13: tokens that the store keeps out are superseded by what it holds`() async {
        let store = RecordingTokenStore(holding: .stored("bob", 0))
        let outcome = await access(store).write(.bundle(.stored("ada", 1), over: .older))
        #expect(outcome == .superseded(by: .active(.stored("bob", 0))))
        #expect(store.bundle == .stored("bob", 0))
    }

    @Test(arguments: Bench.StoreKind.allCases)
    func `A stored bundle without any token is corrupt, and can be replaced, unless a refresh needs none`(
        kind: Bench.StoreKind
    ) async {
        let nothing = TokenBundle(accessToken: "", refreshToken: nil, ordinal: .last)
        let base = RecordingTokenStore(holding: nothing)
        let store: any TokenStore = kind == .shared ? base : OwnTokenStore(base: base)
        #expect(await StoreAccess(store: store, needsToken: false).read() == .success(.active(nothing)))
        #expect(await access(store).read() == .failure(.unusableBundle))
        #expect(await access(store).write(.bundle(.stored("ada", 0), over: .older)) == .written(replaced: nil))
        #expect(base.bundle == .stored("ada", 0))
    }

    @Test(arguments: [Int.min, -1, Int.max - 1, Int.max])
    func `A stored bundle with an absurd generation is corrupt`(generation: Int) async {
        let store = RecordingTokenStore(holding: .stored("ada", generation))
        #expect(await access(store).read() == .failure(.unusableBundle))
    }

    @Test func `G9: the end of a session removes its tokens, newer ones too, and says which`() async {
        let store = RecordingTokenStore(holding: .stored("ada", 3))
        let outcome = await access(store).write(endOfAda)
        #expect(outcome == .written(replaced: .stored("ada", 3)))
        #expect(store.bundle == nil)
    }

    @Test func `G9: a write says what it has removed from a store of one process, where that may be unread`() async {
        let (ada, bob) = (SessionID(rawValue: "ada"), TokenBundle.stored("bob", 0))
        for (content, isSaid) in [
            (StoreContent.bundle(bob, over: .lower(ends: .unknown)), true),
            (.bundle(.stored("ada", 4), over: .older), false),
            (.tombstone(.byUser, at: Date(), of: .unread(upTo: .unknown)), true),
            (.tombstone(.byUser, at: Date(), of: .rejected(bob, replacing: .unknown)), true),
            (.tombstone(.byUser, at: Date(), of: .rejected(bob, replacing: nil)), false),
            (.tombstone(.byUser, at: Date(), of: .session(ada, upTo: .unknown)), false),
        ] {
            let base = RecordingTokenStore(holding: .stored("ada", 3))
            let outcome = await access(OwnTokenStore(base: base)).write(content)
            #expect(outcome == .written(replaced: isSaid ? .stored("ada", 3) : nil), "\(content)")
            #expect(base.bundle == content.bundle)
        }
    }

    @Test func `G9: the end of a session that leaves another user's tokens says which`() async {
        let bob = TokenBundle.stored("bob", 0).with(ordinal: SessionOrdinal(at: Date()))
        let store = RecordingTokenStore(holding: bob)
        let outcome = await access(store).write(endOfAda)
        #expect(outcome == .superseded(by: .active(bob)))
        #expect(store.bundle == bob)
    }

    @Test(arguments: [(TokenStoreError.Code.insecure, true), (.unsupportedVersion, true), (.unavailable, false)])
    func `A sign-out empties a store that refuses to be read, and no store that is unavailable`(
        code: TokenStoreError.Code, isEmptied: Bool
    ) async {
        let store = FaultyTokenStore(RecordingTokenStore(holding: .stored("ada", 1)))
        let error = TokenStoreError(code, reason: "scripted")
        store.fail(.delete, times: 1, with: error)
        let outcome = await access(store).write(endOfAda)
        #expect(outcome == (isEmptied ? .written(replaced: nil) : .failed(error)))
        #expect((store.base.bundle == nil) == isEmptied)
    }

    @Test func `Rule 3: a plain save is refused over the tombstone of its session`() async throws {
        let store = MemoryTokenStore()
        let tombstone = SessionTombstone(session: SessionID(rawValue: "ada"), reason: .byUser, date: Date())
        await store.update { _ in .tombstone(tombstone) }
        let error = await #expect(throws: TokenStoreError.self) { try await store.save(.stored("ada", 1)) }
        #expect(error?.code == .superseded)
        #expect(await store.read() == .tombstone(tombstone))
        try await store.save(.stored("bob", 0))
        #expect(await store.load() == .stored("bob", 0))
    }

    @Test func `Rule 3: a plain save is refused over other tokens of the same generation`() async throws {
        let stored = TokenBundle.stored("ada", 1)
        let store = MemoryTokenStore(holding: stored)
        for (access, refresh) in [(stored.accessToken, "other"), ("other", stored.refreshToken)] {
            let new = TokenBundle(accessToken: access, refreshToken: refresh, session: stored.session, generation: 1)
            let error = await #expect(throws: TokenStoreError.self) { try await store.save(new) }
            #expect(error?.code == .superseded)
        }
        try await store.save(stored)
        #expect(await store.load() == stored)
    }
}
