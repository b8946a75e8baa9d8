import AuthInterface
import Foundation
import Testing

@testable import Storage

@Suite("The tokens move from their earlier locations", .timeLimit(.minutes(10))) struct KeychainMigrationTests {
    private let model = ModelKeychain()

    /// A store whose tokens were in an item of an older service, or in two items.
    private func store() -> KeychainTokenStore { .over(model, predecessors: [.bundle(at: .older), .twoTokens]) }

    private func insertOlder() throws { try model.insert(TokenBundle.numbered(3).stored, at: .older) }

    @Test func `a bundle moves from an older service, whole, and once`() async throws {
        try insertOlder()
        let store = store()
        #expect(try await store.load() == .numbered(3))
        #expect(model.items.map(\.location) == [.own.inGroup("own.group")])
        let calls = model.calls.count
        #expect(try await store.load() == .numbered(3))
        #expect(model.calls.count == calls + 1, "what has moved costs nothing")
        #expect(try await self.store().load() == .numbered(3))
    }

    @Test func `the old items are deleted only when the new one has been read back`() async throws {
        try insertOlder()
        let store = store()
        // Two reads of the item, one of the older item; then the new one.
        model.script(.copyMatching, nil, nil, nil, .itemNotFound)
        #expect(await storeError { _ = try await store.load() }?.code == .unavailable)
        #expect(!model.calls.contains(.delete))
        #expect(try await store.load() == .numbered(3))
    }

    @Test(
        arguments: [
            ("access-0", "refresh-0"), ("access-0", nil), (nil, "refresh-0"), ("", "refresh-0"), ("", ""),
        ] as [(String?, String?)])
    func `two tokens, or one, become a session that stays the same`(access: String?, refresh: String?) async throws {
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

    @Test func `a predecessor that cannot be removed does not prevent a load, and is removed later`() async throws {
        try insertOlder()
        model.script(.delete, .interactionNotAllowed, .interactionNotAllowed)
        let store = store()
        #expect(try await store.load() == .numbered(3))
        try await store.save(.numbered(4))
        #expect(model.items.count == 2)
        #expect(try await store.load() == .numbered(4))
        #expect(model.items.count == 1)
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

    // MARK: A move never removes the new item as an old one

    private let grouped = KeychainLocation.own.inGroup("shared.group")

    @Test(arguments: [nil, "own.group"])
    func `an item moves into an access group under the same service and account`(group: String?) async throws {
        try model.insert(TokenBundle.numbered(1).stored, at: .own)
        let old = KeychainPredecessor.bundle(at: .own.inGroup(group))
        let store = KeychainTokenStore.over(model, at: grouped, predecessors: [old])
        #expect(try await store.load() == .numbered(1))
        #expect(model.items.map(\.location) == [grouped])
        #expect(try await KeychainTokenStore.over(model, at: grouped, predecessors: [old]).load() == .numbered(1))
        #expect(model.items.map(\.location) == [grouped])
        try await store.delete()
        #expect(model.items.isEmpty)
    }

    @Test func `a location without a group finds the items of every group, and moves none`() async throws {
        try model.insert(TokenBundle.numbered(1).stored, at: grouped)
        let store = KeychainTokenStore.over(model, at: .own, predecessors: [.bundle(at: grouped)])
        #expect(try await store.load() == .numbered(1))
        try await store.expectRoundTrip(of: .numbered(2))
        #expect(model.items.count == 1)
    }

    @Test func `the store's own location is not a predecessor`() async throws {
        let predecessors = [KeychainPredecessor.bundle(at: .own), .separateTokens(access: .own, refresh: .refresh)]
        let store = KeychainTokenStore.over(model, predecessors: predecessors)
        try await store.expectRoundTrip(of: .numbered(1))
        #expect(try await KeychainTokenStore.over(model, predecessors: predecessors).load() == .numbered(1))
        #expect(model.items.count == 1)
    }

    @Test(arguments: [true, false])
    func `a bundle moves from the older Keychain of a Mac; on other devices nothing moves`(isMac: Bool) async throws {
        let model = ModelKeychain(hasFileBasedKeychain: isMac)
        let old = KeychainLocation(service: "org.example.articles", account: "anna", keychain: .fileBased)
        try model.insert(TokenBundle.numbered(1).stored, at: isMac ? old : .own)
        let store = KeychainTokenStore.over(model, predecessors: [.bundle(at: old)])
        #expect(try await store.load() == .numbered(1))
        #expect(model.items.map(\.location) == [.own.inGroup("own.group")])
        try await store.save(.numbered(2))
        #expect(try await KeychainTokenStore.over(model, predecessors: [.bundle(at: old)]).load() == .numbered(2))
        #expect(model.items.count == 1)
    }
}
