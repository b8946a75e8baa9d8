import AuthInterface
import AuthTesting
import Foundation
import Storage
import Testing

@testable import TokenRefresh

/// G9, G13: the outcome of a write to a shared store.
@Suite struct StoreAccessTests {
    private let endOfAda = StoreContent.ended(
        .byUser, at: Date(), of: .sessions(SessionID(rawValue: "ada"), replacing: [])
    )

    @Test func `G13: tokens that the store keeps out are superseded by what it holds`() async {
        let store = RecordingTokenStore(holding: .stored("bob", 0))
        let outcome = await StoreAccess(store: store).write(.bundle(.stored("ada", 1), over: .older))
        #expect(outcome == .superseded(by: .active(.stored("bob", 0))))
        #expect(store.bundle == .stored("bob", 0))
    }

    @Test func `G9: the end of a session removes its tokens, newer ones too, and says which`() async {
        let store = RecordingTokenStore(holding: .stored("ada", 3))
        let outcome = await StoreAccess(store: store).write(endOfAda)
        #expect(outcome == .written(replaced: .stored("ada", 3)))
        #expect(store.bundle == nil)
    }

    @Test func `G9: the end of a session that leaves another user's tokens is done`() async {
        let store = RecordingTokenStore(holding: .stored("bob", 0))
        let outcome = await StoreAccess(store: store).write(endOfAda)
        #expect(outcome == .written(replaced: nil))
        #expect(store.bundle == .stored("bob", 0))
    }

    @Test(arguments: [(TokenStoreError.Code.insecure, true), (.unsupportedVersion, true), (.unavailable, false)])
    func `A sign-out empties a store that refuses to be read, and no store that is unavailable`(
        code: TokenStoreError.Code, isEmptied: Bool
    ) async {
        let store = FaultyTokenStore(RecordingTokenStore(holding: .stored("ada", 1)))
        let error = TokenStoreError(code, reason: "scripted")
        store.fail(.delete, times: 1, with: error)
        let outcome = await StoreAccess(store: store).write(endOfAda)
        #expect(outcome == (isEmptied ? .written(replaced: nil) : .failed(error)))
        #expect((store.base.bundle == nil) == isEmptied)
    }

    @Test func `Rule 3: a plain save is refused over the tombstone of its session`() async throws {
        let store = MemoryTokenStore()
        let ended = EndedSession(session: SessionID(rawValue: "ada"), reason: .byUser, date: Date())
        await store.update { _ in .ended(ended) }
        let error = await #expect(throws: TokenStoreError.self) { try await store.save(.stored("ada", 1)) }
        #expect(error?.code == .superseded)
        #expect(await store.read() == .ended(ended))
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
