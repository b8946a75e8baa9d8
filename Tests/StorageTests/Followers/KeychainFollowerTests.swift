import AuthInterface
import ContractTesting
import Foundation
import TestSupport
import Testing

@testable import Storage

/// G29 over the model of the Keychain: an item of its own, in an access group that the owner's item is not in.
@Suite(.timeLimit(.minutes(10))) struct KeychainFollowerTests {
    private let folder = TemporaryFolder()
    private let model = ModelKeychain()

    /// The owner's store, a place for followers, and the store that publishes there.
    private func stores(
        at location: KeychainLocation
    ) -> (owner: SharedKeychainTokenStore, place: SharedKeychainTokenStore, store: FollowedTokenStore) {
        let place = KeychainTokenStore.over(model, at: location.inGroup("shared.group"))
            .sharedOnModel(lockFile: folder.fresh())
        let owner = KeychainTokenStore.over(model).sharedOnModel(lockFile: folder.fresh())
        return (owner, place, FollowedTokenStore(owner, publishing: place, clock: ManualTimeSource()))
    }

    @Test func `G29: followers get an item of their own, which never holds the refresh token`() async throws {
        let (owner, place, store) = stores(at: .init(service: "org.example.articles.followers", account: "anna"))
        var bundle = TokenBundle(
            accessToken: "access-0", refreshToken: "refresh-0", session: SessionID(rawValue: "ada"))
        try await store.save(bundle)
        #expect(await store.settle())
        #expect(try await place.read() == .active(bundle.withoutRefreshToken))
        #expect(try await owner.read() == .active(bundle))
        bundle = TokenBundle(
            accessToken: "access-1", refreshToken: "refresh-1", session: bundle.session, generation: 1)
        try await store.save(bundle)
        #expect(await store.settle())
        let items = model.items.filter { $0.location.accessGroup == "shared.group" }.compactMap(\.data)
        let text = String(decoding: items.joined(), as: UTF8.self)
        #expect(text.contains("access-1") && !text.contains("refresh-"))
        try await store.update { _ in
            .tombstone(SessionTombstone(session: SessionID(rawValue: "ada"), reason: .byUser, date: Date()))
        }
        #expect(await store.settle())
        guard case .tombstone(let end) = try await place.read() else {
            Issue.record("the end of the session is not published")
            return
        }
        #expect(end.reason == .byUser)
    }

    @Test func `An item that a search for the owner's item finds too is no place for followers`() async throws {
        let (owner, _, store) = stores(at: .own)
        let bundle = TokenBundle(accessToken: "access-0", refreshToken: "refresh-0", session: SessionID())
        try await store.save(bundle)
        #expect(await !store.settle())
        #expect(model.items.map(\.location.accessGroup) == ["own.group"])
        #expect(try await owner.read() == .active(bundle))
    }
}
