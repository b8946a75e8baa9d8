import AuthInterface
import Foundation
import Testing

@testable import Storage

@Suite("The tokens move from their earlier locations", .timeLimit(.minutes(10)))
struct KeychainMigrationTests {
    private let model = ModelKeychain()
    private let separate = KeychainPredecessor.separateTokens(access: .access, refresh: .refresh)

    private func insertSeparately(access: String?, refresh: String?) {
        if let access { model.insert(Data(access.utf8), at: .access) }
        if let refresh { model.insert(Data(refresh.utf8), at: .refresh) }
    }

    @Test func `a bundle moves from an older service, whole, and once`() async throws {
        try model.insert(TokenBundle.numbered(3).stored, at: .older)
        let keychain = ScriptedKeychain(model)
        let store = KeychainTokenStore.over(keychain, predecessors: [.bundle(at: .older)])
        #expect(try await store.load() == .numbered(3))
        #expect(model.items.map(\.location) == [.own.inGroup("own.group")])
        let calls = keychain.calls.count
        #expect(try await store.load() == .numbered(3))
        #expect(keychain.calls.count == calls + 1, "what has moved costs nothing")
        #expect(try await KeychainTokenStore.over(model, predecessors: [.bundle(at: .older)]).load() == .numbered(3))
    }

    @Test func `the old items are deleted only when the new one has been read back`() async throws {
        try model.insert(TokenBundle.numbered(3).stored, at: .older)
        let keychain = ScriptedKeychain(model)
        let store = KeychainTokenStore.over(keychain, predecessors: [.bundle(at: .older)])
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
        insertSeparately(access: access, refresh: refresh)
        let bundle = try await KeychainTokenStore.over(model, predecessors: [separate]).load()
        guard access != "" || refresh != "" else { return #expect(bundle == nil) }
        let hasAccess = access == "access-0"
        #expect(bundle?.refreshToken == refresh && (bundle?.accessToken == "access-0") == hasAccess)
        #expect((bundle?.expiresAt == nil) == hasAccess, "without an access token it must be refreshed")
        #expect(bundle?.isExpired(at: Date(timeIntervalSince1970: 0)) == !hasAccess)
        #expect(model.items.map(\.location.account) == ["anna"])
        #expect(try await KeychainTokenStore.over(model, predecessors: [separate]).load() == bundle)
    }

    @Test func `no half of a session moves while the other cannot be read`() async throws {
        insertSeparately(access: "access-0", refresh: nil)
        model.insert(
            .init(
                location: .refresh.inGroup("own.group"),
                accessibility: .whenUnlockedThisDeviceOnly,
                data: Data("refresh-0".utf8)
            )
        )
        model.set(.locked)
        let before = model.items
        let store = KeychainTokenStore.over(model, predecessors: [separate])
        #expect(await storeError { _ = try await store.load() }?.code == .unavailable)
        #expect(model.items == before)
        model.set(.unlocked)
        #expect(try await store.load()?.refreshToken == "refresh-0")
    }

    @Test func `not found at both locations is unavailable before protected data is available`() async throws {
        try model.insert(TokenBundle.numbered(3).stored, at: .older)
        let before = model.items
        model.set(.beforeFirstUnlockAndHidden)
        let store = KeychainTokenStore.over(model, predecessors: [.bundle(at: .older)]) { false }
        #expect(await storeError { _ = try await store.load() }?.code == .unavailable)
        #expect(await storeError { try await store.delete() }?.code == .unavailable)
        #expect(model.items == before)
    }

    @Test func `of several predecessors the newest counts, and all are removed`() async throws {
        try model.insert(TokenBundle.numbered(3).stored, at: .older)
        insertSeparately(access: "access-0", refresh: "refresh-0")
        let store = KeychainTokenStore.over(model, predecessors: [.bundle(at: .older), separate])
        #expect(try await store.load() == .numbered(3))
        #expect(model.items.count == 1)
    }

    @Test func `the item at the store's own location is newer than all predecessors`() async throws {
        try model.insert(TokenBundle.numbered(3).stored, at: .older)
        try model.insert(TokenBundle.numbered(4).stored, at: .own)
        let store = KeychainTokenStore.over(model, predecessors: [.bundle(at: .older)])
        #expect(try await store.load() == .numbered(4))
        #expect(model.items.count == 1, "what a crash had left is gone")
    }

    @Test func `a predecessor that cannot be removed does not prevent a load, and is removed later`() async throws {
        try model.insert(TokenBundle.numbered(3).stored, at: .older)
        let keychain = ScriptedKeychain(model)
        keychain.script(.delete, .interactionNotAllowed, .interactionNotAllowed)
        let store = KeychainTokenStore.over(keychain, predecessors: [.bundle(at: .older)])
        #expect(try await store.load() == .numbered(3))
        try await store.save(.numbered(4))
        #expect(model.items.count == 2)
        #expect(try await store.load() == .numbered(4))
        #expect(model.items.count == 1)
    }

    @Test func `a sign-in without a load replaces the predecessors`() async throws {
        try model.insert(TokenBundle.numbered(3).stored, at: .older)
        insertSeparately(access: "access-0", refresh: "refresh-0")
        let store = KeychainTokenStore.over(model, predecessors: [.bundle(at: .older), separate])
        let bundle = TokenBundle.numbered(0, of: SessionID(rawValue: "session-2"))
        try await store.expectRoundTrip(of: bundle)
        #expect(model.items.count == 1)
    }

    @Test func `a sign-out is not undone by a predecessor`() async throws {
        try model.insert(TokenBundle.numbered(3).stored, at: .older)
        try model.insert(TokenBundle.numbered(4).stored, at: .own)
        insertSeparately(access: "access-0", refresh: "refresh-0")
        let store = KeychainTokenStore.over(model, predecessors: [.bundle(at: .older), separate])
        try await store.delete()
        #expect(model.items.isEmpty)
        #expect(try await store.load() == nil)
    }

    @Test(arguments: [(Data.garbage, TokenStoreError.Code.corrupt), (.ofLaterVersion, .unsupportedVersion)])
    func `an older item that cannot be read is reported and kept`(
        row: (data: Data, code: TokenStoreError.Code)
    ) async throws {
        model.insert(row.data, at: .older)
        let store = KeychainTokenStore.over(model, predecessors: [.bundle(at: .older)])
        for _ in 1...2 { #expect(await storeError { _ = try await store.load() }?.code == row.code) }
        #expect(model.data(at: .older) == row.data)
        try await store.expectRoundTrip(of: .numbered(1))
    }

    @Test func `a token that is not a text is corrupt`() async throws {
        model.insert(Data([0xFF, 0xFE]), at: .access)
        let store = KeychainTokenStore.over(model, predecessors: [separate])
        #expect(await storeError { _ = try await store.load() }?.code == .corrupt)
    }
}
