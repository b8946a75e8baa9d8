import AuthTesting
import Foundation
import TestSupport
import Testing

@testable import Storage

@Suite("The Keychain store keeps the contracts, over the model", .timeLimit(.minutes(10)))
struct KeychainContractTests {
    @Test func `the Keychain store is a token store`() async throws {
        try await TokenStoreContract.check(
            reopen: { KeychainTokenStore.over($0.item.items) }, unavailable: { $0.beforeFirstUnlock },
            makeEmptyStore: { KeychainTokenStore.over(ModelKeychain()) })
    }

    @Test func `the store is a token store in the older Keychain of a Mac`() async throws {
        let location = KeychainLocation(service: "articles", keychain: .fileBased)
        try await TokenStoreContract.check(
            reopen: { KeychainTokenStore.over($0.item.items, at: location) },
            makeEmptyStore: { KeychainTokenStore.over(ModelKeychain.ofAnOlderMac, at: location) })
    }

    @Test func `the store is a token store in an access group, with predecessors and a marker`() async throws {
        @Sendable func equipped(_ items: any KeychainItems) -> KeychainTokenStore {
            .over(
                items, at: .own.inGroup("shared.group"),
                predecessors: [.bundle(at: .own), .bundle(at: .older), .twoTokens],
                marker: InstallMarker(isSet: { true }, set: {}))
        }
        try await TokenStoreContract.check(
            reopen: { equipped($0.item.items) }, makeEmptyStore: { equipped(ModelKeychain()) })
    }

    @Test func `the store can be shared, and is then a token store, too`() async throws {
        let folder = TemporaryFolder()
        func empty() -> SharedKeychainTokenStore {
            KeychainTokenStore.over(ModelKeychain()).sharedOnModel(lockFile: folder.fresh())
        }
        @Sendable func reopened(_ store: SharedKeychainTokenStore) -> SharedKeychainTokenStore {
            KeychainTokenStore.over(store.store.item.items).sharedOnModel(lockFile: store.lockFile)
        }
        try await TokenStoreContract.check(
            reopen: reopened, unavailable: { $0.store.beforeFirstUnlock.sharedOnModel(lockFile: $0.lockFile) },
            makeEmptyStore: empty)
        try await SharedTokenStoreContract.check(
            reopen: reopened,
            corrupt: { ($0.store.item.items as? ModelKeychain)?.overwrite(.garbage, at: .own) },
            contents: { store in
                let items = (store.store.item.items as? ModelKeychain)?.items ?? []
                return Data(items.compactMap(\.data).joined())
            },
            makeEmptyStore: empty)
    }
}

extension KeychainTokenStore {
    /// A store over the same items, which nothing can be read from.
    fileprivate var beforeFirstUnlock: KeychainTokenStore {
        (item.items as? ModelKeychain)?.set(.beforeFirstUnlock)
        return .over(item.items) { false }
    }
}
