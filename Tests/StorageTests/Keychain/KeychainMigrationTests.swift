import AuthInterface
import Foundation
import Testing

@testable import Storage

@Suite("The tokens move from their earlier locations", .timeLimit(.minutes(10)))
struct KeychainMigrationTests {
    private let model = ModelKeychain()

    /// A store whose tokens were in an item of an older service, or in two items.
    private func store(over items: (any KeychainItems)? = nil) -> KeychainTokenStore {
        .over(items ?? model, predecessors: [.bundle(at: .older), .twoTokens])
    }

    private func insertOlder() throws { try model.insert(TokenBundle.numbered(3).stored, at: .older) }

    @Test func `a bundle moves from an older service, whole, and once`() async throws {
        try insertOlder()
        let keychain = ScriptedKeychain(model)
        let store = store(over: keychain)
        #expect(try await store.load() == .numbered(3))
        #expect(model.items.map(\.location) == [.own.inGroup("own.group")])
        let calls = keychain.calls.count
        #expect(try await store.load() == .numbered(3))
        #expect(keychain.calls.count == calls + 1, "what has moved costs nothing")
        #expect(try await self.store().load() == .numbered(3))
    }

    @Test func `the old items are deleted only when the new one has been read back`() async throws {
        try insertOlder()
        let keychain = ScriptedKeychain(model)
        let store = store(over: keychain)
        // Two reads of the item, one of the older item; then the new one.
        keychain.script(.copyMatching, nil, nil, nil, .itemNotFound)
        #expect(await storeError { _ = try await store.load() }?.code == .unavailable)
        #expect(!keychain.calls.contains(.delete))
        #expect(try await store.load() == .numbered(3))
    }

    @Test(
        arguments: [
            ("access-0", "refresh-0"), ("access-0", nil), (nil, "refresh-0"), ("", "refresh-0"), ("", ""),
        ] as [(String?, String?)])
    func `two tokens, or one of them, become a session that stays the same`(
        access: String?, refresh: String?
    ) async throws {
        model.insertTokens(access, refresh)
        let bundle = try await store().load()
        guard access != "" || refresh != "" else { return #expect(bundle == nil) }
        let hasAccess = access == "access-0"
        #expect(bundle?.refreshToken == refresh && (bundle?.accessToken == "access-0") == hasAccess)
        #expect((bundle?.expiresAt == nil) == hasAccess, "without an access token it must be refreshed")
        #expect(bundle?.isExpired(at: Date(timeIntervalSince1970: 0)) == !hasAccess)
        #expect(model.items.map(\.location.account) == ["anna"])
        #expect(try await store().load() == bundle)
    }

    @Test func `no half of a session moves while the other cannot be read`() async throws {
        model.insertTokens("access-0", nil)
        model.insert(
            .init(
                location: .refresh.inGroup("own.group"), accessibility: .whenUnlockedThisDeviceOnly,
                data: Data("refresh-0".utf8)))
        model.set(.locked)
        let before = model.items
        let store = store()
        #expect(await storeError { _ = try await store.load() }?.code == .unavailable)
        #expect(model.items == before)
        model.set(.unlocked)
        #expect(try await store.load()?.refreshToken == "refresh-0")
    }

    @Test func `not found at both locations is unavailable before protected data is available`() async throws {
        try insertOlder()
        let before = model.items
        model.set(.beforeFirstUnlockAndHidden)
        let store = KeychainTokenStore.over(model, predecessors: [.bundle(at: .older)]) { false }
        await store.expectFailures(of: [.load, .delete], .unavailable)
        #expect(model.items == before)
    }

    @Test func `the item at the store's own location is newer than all predecessors`() async throws {
        try insertOlder()
        model.insertTokens()
        try model.insert(TokenBundle.numbered(4).stored, at: .own)
        #expect(try await store().load() == .numbered(4))
        #expect(model.items.count == 1, "what a crash had left is gone")
    }

    @Test func `a predecessor that cannot be removed does not prevent a load, and is removed later`() async throws {
        try insertOlder()
        let keychain = ScriptedKeychain(model)
        keychain.script(.delete, .interactionNotAllowed, .interactionNotAllowed)
        let store = store(over: keychain)
        #expect(try await store.load() == .numbered(3))
        try await store.save(.numbered(4))
        #expect(model.items.count == 2)
        #expect(try await store.load() == .numbered(4))
        #expect(model.items.count == 1)
    }

    @Test func `a sign-out is not undone by a predecessor`() async throws {
        try insertOlder()
        try model.insert(TokenBundle.numbered(4).stored, at: .own)
        model.insertTokens()
        let store = store()
        try await store.delete()
        #expect(model.items.isEmpty)
        #expect(try await store.load() == nil)
    }

    @Test(arguments: [
        (KeychainLocation.older, Data.garbage, TokenStoreError.Code.corrupt), (.access, Data([0xFF, 0xFE]), .corrupt),
        (.older, .ofLaterVersion, .unsupportedVersion),
    ])
    func `an older item that cannot be read is reported and kept`(
        location: KeychainLocation, data: Data, code: TokenStoreError.Code
    ) async throws {
        model.insert(data, at: location)
        let store = store()
        for _ in 1...2 { await store.expectFailures(of: [.load], code) }
        #expect(model.data(at: location) == data)
        try await store.expectRoundTrip(of: .numbered(1))
    }
}
