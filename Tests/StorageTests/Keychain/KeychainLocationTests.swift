import AuthInterface
import Foundation
import Testing

@testable import Storage

@Suite("A move never removes the new item as an old one")
struct KeychainLocationTests {
    private let model = ModelKeychain()
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
    func `a bundle moves from the older Keychain of a Mac; other devices have one Keychain, and nothing moves`(
        isMac: Bool
    ) async throws {
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
