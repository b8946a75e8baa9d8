import AuthInterface
import AuthTesting
import Foundation
import TestSupport
import Testing

@testable import Storage

@Suite("The Keychain store keeps the contracts, over the model", .timeLimit(.minutes(10)))
struct KeychainContractTests {
    /// The ways in which a Keychain is unavailable.
    enum Obstacle: CaseIterable {
        case beforeFirstUnlock
        case prewarming
        case noEntitlement
        case notAvailable
    }

    @Test(arguments: Obstacle.allCases)
    func `the Keychain store is a token store`(obstacle: Obstacle) async throws {
        try await TokenStoreContract.check(
            reopen: { KeychainTokenStore.over($0.item.items) },
            unavailable: { $0.behind(obstacle) },
            makeEmptyStore: { KeychainTokenStore.over(ModelKeychain()) }
        )
    }

    @Test func `the store is a token store in the older Keychain of a Mac`() async throws {
        let location = KeychainLocation(service: "articles", keychain: .fileBased)
        try await TokenStoreContract.check(
            reopen: { KeychainTokenStore.over($0.item.items, at: location) },
            makeEmptyStore: {
                KeychainTokenStore.over(ModelKeychain(groups: [], hasFileBasedKeychain: true), at: location)
            }
        )
    }

    @Test func `the store is a token store in an access group, with predecessors and a marker`() async throws {
        try await TokenStoreContract.check(
            reopen: { KeychainTokenStore.equipped($0.item.items) },
            makeEmptyStore: { KeychainTokenStore.equipped(ModelKeychain()) }
        )
    }

    @Test func `the store can be shared`() async throws {
        let folder = TemporaryFolder()
        try await SharedTokenStoreContract.check(
            reopen: { KeychainTokenStore.over($0.store.item.items).sharedOnModel(lockFile: $0.lockFile) },
            corrupt: { ($0.store.item.items as? ModelKeychain)?.overwrite(.garbage, at: .own) },
            contents: { store in
                let items = (store.store.item.items as? ModelKeychain)?.items ?? []
                return Data(items.compactMap(\.data).joined())
            },
            makeEmptyStore: { KeychainTokenStore.over(ModelKeychain()).sharedOnModel(lockFile: folder.fresh()) }
        )
    }

    @Test func `a shared store is still a token store`() async throws {
        let folder = TemporaryFolder()
        try await TokenStoreContract.check(
            reopen: { KeychainTokenStore.over($0.store.item.items).sharedOnModel(lockFile: $0.lockFile) },
            unavailable: { $0.store.behind(.beforeFirstUnlock).sharedOnModel(lockFile: $0.lockFile) },
            makeEmptyStore: { KeychainTokenStore.over(ModelKeychain()).sharedOnModel(lockFile: folder.fresh()) }
        )
    }

    @Test func `no description or dump of a store shows its tokens`() async throws {
        let bundle = TokenBundle.numbered(1)
        let store = KeychainTokenStore.over(ModelKeychain())
        try await store.save(bundle)
        let shared = store.sharedOnModel(lockFile: URL(fileURLWithPath: "/nowhere/anna.lease"))
        #expect("\(store)" == "KeychainTokenStore(org.example.articles/anna)")
        #expect("\(shared)" == "SharedKeychainTokenStore(org.example.articles/anna, /nowhere/anna.lease)")
        for view in [store as Any, shared] {
            var dumped = ""
            dump(view, to: &dumped)
            #expect(dumped.count < 200, "a dump goes no further than the location")
        }
    }
}

extension KeychainTokenStore {
    /// A store over the same items that cannot reach them.
    fileprivate func behind(_ obstacle: KeychainContractTests.Obstacle) -> KeychainTokenStore {
        let model = item.items as? ModelKeychain
        switch obstacle {
        case .beforeFirstUnlock:
            model?.set(.beforeFirstUnlock)
            return .over(item.items) { false }
        case .prewarming:
            model?.set(.beforeFirstUnlockAndHidden)
            return .over(item.items) { false }
        case .noEntitlement:
            return .over(item.items, at: location.inGroup("foreign.group"))
        case .notAvailable:
            let scripted = ScriptedKeychain(item.items)
            for call in KeychainCall.allCases { scripted.fail(call, with: .notAvailable) }
            return .over(scripted)
        }
    }

    fileprivate static func equipped(_ items: any KeychainItems) -> KeychainTokenStore {
        .over(
            items,
            at: .own.inGroup("shared.group"),
            predecessors: [
                .bundle(at: .own),
                .bundle(at: .older),
                .separateTokens(access: .access, refresh: .refresh),
            ],
            marker: InstallMarker(isSet: { true }, set: {})
        )
    }
}
