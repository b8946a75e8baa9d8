import AuthInterface
import ContractTesting
import Foundation
import TestSupport
import Testing

@testable import Storage

/// G29 over the model of the Keychain: an item of its own, in an access group that the owner's item is not in.
@Suite struct KeychainFollowerTests {
    private let folder = TemporaryFolder()

    @Test func `G29: followers get an item of their own, which never holds the refresh token`() async throws {
        let model = ModelKeychain()
        let location = KeychainLocation(service: "org.example.articles.followers", account: "anna")
        let place = KeychainTokenStore.over(model, at: location.inGroup("shared.group"))
            .sharedOnModel(lockFile: folder.fresh())
        let owner = KeychainTokenStore.over(model).sharedOnModel(lockFile: folder.fresh())
        let store = FollowedTokenStore(owner, publishing: place, clock: ManualTimeSource())
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

    @Test func `An item that a search for the owner's item finds too is no place for followers`()
        async throws
    {
        let model = ModelKeychain()
        let place = KeychainTokenStore.over(model, at: .own.inGroup("shared.group"))
            .sharedOnModel(lockFile: folder.fresh())
        let owner = KeychainTokenStore.over(model).sharedOnModel(lockFile: folder.fresh())
        let store = FollowedTokenStore(owner, publishing: place, clock: ManualTimeSource())
        let bundle = TokenBundle(accessToken: "access-0", refreshToken: "refresh-0", session: SessionID())
        try await store.save(bundle)
        #expect(await !store.settle())
        #expect(model.items.map(\.location.accessGroup) == ["own.group"])
        #expect(try await owner.read() == .active(bundle))
    }
}
