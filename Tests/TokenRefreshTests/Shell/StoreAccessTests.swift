import AuthInterface
import AuthTesting
import Foundation
import Testing

@testable import TokenRefresh

/// G9, G13: what a write to a shared store did, as the machine is told.
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
}
