import AuthInterface
import AuthTesting
import ContractTesting
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
        for bundle in [TokenBundle.fixture(), .fixture(generation: 1)] {
            try await store.save(bundle)
            #expect(await store.settle())
            #expect(try await place.read() == .active(bundle.withoutRefreshToken))
            #expect(try await owner.read() == .active(bundle))
        }
        let items = model.items.filter { $0.location.accessGroup == "shared.group" }.compactMap(\.data)
        let text = String(decoding: items.joined(), as: UTF8.self)
        #expect(text.contains("access-ada1-1") && !text.contains("refresh-"))
    }

    @Test func `An item that a search for the owner's item finds too is no place for followers`() async throws {
        let (owner, _, store) = stores(at: .own)
        try await store.save(.fixture())
        #expect(await !store.settle())
        #expect(model.items.map(\.location.accessGroup) == ["own.group"])
        #expect(try await owner.read() == .active(.fixture()))
    }
}
