import AuthInterface
import AuthTesting
import ContractTesting
import Foundation
import Storage
import Testing

@testable import TokenRefresh

/// G9, G13, G14: the outcome of a read, and of a write to a shared store.
@Suite(.timeLimit(.minutes(10))) struct StoreAccessTests {
    private func access(_ store: any TokenStore) -> StoreAccess { StoreAccess(store: store) }

    @Test(arguments: [CancellationError(), TokenStoreError(.corrupt, reason: "cut off")] as [any Error])
    func `G14: an error of any type, also a corrupt file, does not count as an empty store`(error: any Error) async {
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

    @Test func `G9, G13: a write is superseded by what the store keeps, or says what it has removed`() async {
        let ada = TokenBundle.stored("ada", 3)
        let bob = TokenBundle.stored("bob", 0, ordinal: SessionOrdinal(at: Date()))
        for (held, content, outcome) in [
            (bob, StoreContent.bundle(.stored("ada", 1), over: .older), WriteOutcome.superseded(by: .active(bob))),
            (bob, endOfAda, .superseded(by: .active(bob))),
            // Newer ones, too.
            (ada, endOfAda, .written(replaced: ada)),
        ] {
            let store = RecordingTokenStore(holding: held)
            #expect(await access(store).write(content) == outcome)
            #expect(store.bundle == (held == bob ? bob : nil))
        }
    }

    @Test(arguments: Bench.StoreKind.allCases)
    func `A stored bundle without a token is corrupt, unless a refresh needs none`(kind: Bench.StoreKind) async {
        let nothing = TokenBundle(accessToken: "", refreshToken: nil, ordinal: .last)
        let base = RecordingTokenStore(holding: nothing)
        let store: any TokenStore = kind == .shared ? base : OwnTokenStore(base: base)
        #expect(await StoreAccess(store: store, needsToken: false).read() == .success(.active(nothing)))
        #expect(await access(store).read() == .failure(.unusableBundle))
        #expect(await access(store).write(.bundle(.stored("ada", 0), over: .older)) == .written(replaced: nil))
        #expect(base.bundle == .stored("ada", 0))
        let half = TokenBundle(accessToken: "", refreshToken: "refresh", ordinal: .last)
        #expect(await access(RecordingTokenStore(holding: half)).read() == .success(.active(half)))
    }

    @Test(arguments: [Int.min, -1, Int.max - 1, Int.max])
    func `A stored bundle with an absurd generation is corrupt`(generation: Int) async {
        let store = RecordingTokenStore(holding: .stored("ada", generation))
        #expect(await access(store).read() == .failure(.unusableBundle))
    }

    @Test func `A stored bundle with a number that is none is corrupt`() async {
        let nan = Date(timeIntervalSince1970: .nan)
        let intent = RefreshIntent(idempotencyKey: "fixture-key", owner: .current, date: nan)
        #expect("\(intent)".contains("unknown") && "\(LeaseHolder(process: .current, since: nan))".contains("unknown"))
        let bundle = TokenBundle.stored("ada", 1)
        for bundle in [bundle.with(refreshIntent: intent), .stored("ada", 1, expiresAt: nan)] {
            #expect(await access(RecordingTokenStore(holding: bundle)).read() == .failure(.unusableBundle))
        }
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

    @Test(
        arguments: [
            (.insecure, .byUser, true), (.insecure, .expired(), true), (.unsupportedVersion, .byUser, true),
            (.unsupportedVersion, .application("disabled"), true), (.unsupportedVersion, .expired(), false),
            (.unavailable, .byUser, false),
        ] as [(TokenStoreError.Code, SignOutReason, Bool)]
    )
    func `G36: a sign-out empties a store that refuses to be read, and no other end one of a later version`(
        code: TokenStoreError.Code, reason: SignOutReason, isEmptied: Bool
    ) async {
        let store = FaultyTokenStore(RecordingTokenStore(holding: .stored("ada", 1)))
        let error = TokenStoreError(code, reason: "scripted")
        store.fail(.delete, times: 1, with: error)
        let session = SessionID(rawValue: "ada")
        let end = StoreContent.tombstone(reason, at: Date(), of: .session(session, upTo: .unknown))
        #expect(await access(store).write(end) == (code == .unavailable ? .failed(error) : .written(replaced: nil)))
        #expect((store.base.bundle == nil) == isEmptied)
        // The other processes learn why.
        let left: SignOutReason? = if case .tombstone(let end) = await store.base.read() { end.reason } else { nil }
        #expect(left == (isEmptied ? reason : nil))
    }

    @Test func `Rule 3: a save is refused over its tombstone and its generation's other tokens`() async throws {
        let stored = TokenBundle.stored("ada", 1)
        let end = SessionTombstone(session: stored.session, reason: .byUser, date: Date())
        let others = [(stored.accessToken, "other"), ("other", stored.refreshToken)].map {
            TokenBundle(accessToken: $0, refreshToken: $1, session: stored.session, generation: 1)
        }
        for (held, new, accepted) in [
            (StoredSession.tombstone(end), [stored], TokenBundle.stored("bob", 0)), (.active(stored), others, stored),
        ] {
            let store = MemoryTokenStore()
            await store.update { _ in held }
            for new in new {
                let error = await #expect(throws: TokenStoreError.self) { try await store.save(new) }
                #expect(error?.code == .superseded)
            }
            #expect(await store.read() == held)
            try await store.save(accepted)
            #expect(await store.load() == accepted)
        }
    }
}
