import AuthInterface
import Foundation
import Testing

@testable import Storage

@Suite("A save updates or adds, and never deletes", .timeLimit(.minutes(10))) struct KeychainSavingTests {
    private let model = ModelKeychain()
    private let store: KeychainTokenStore

    init() { store = .over(model) }

    /// When another item is added, if one is, and the calls of the save.
    private static let saves: [(addition: KeychainCall?, calls: [KeychainCall])] = [
        (nil, [.copyMatching, .update, .add]), (.copyMatching, [.copyMatching, .update]),
        (.add, [.copyMatching, .update, .add, .update]),
    ]

    @Test(arguments: saves)
    func `a save updates, or adds where that finds none`(addition: KeychainCall?, calls: [KeychainCall]) async throws {
        let other = try TokenBundle.numbered(1).stored
        if let addition { model.before(addition) { [model] in model.insert(other, at: .own) } }
        try await store.save(.numbered(2))
        #expect(model.calls == calls)
        #expect(try await store.load() == .numbered(2))
        #expect(model.items.map(\.location) == [.own.inGroup("own.group")])
        #expect(model.items.map(\.accessibility) == [.afterFirstUnlockThisDeviceOnly])
    }

    @Test func `an item that is neither found nor can be added ends the attempts`() async throws {
        model.fail(.add, with: .duplicateItem)
        let error = await #expect(throws: TokenStoreError.self) { try await store.save(.numbered(1)) }
        #expect(error?.code == .unavailable)
        #expect(error?.cause as? KeychainStatus == .duplicateItem)
        #expect(model.calls.filter { $0 == .add }.count == TokenItem.saveAttempts)
        #expect(!model.calls.contains(.delete))
    }

    @Test func `a save that fails leaves the stored item`() async throws {
        try await store.save(.numbered(1))
        model.script(.update, .interactionNotAllowed)
        #expect(await storeError { try await store.save(.numbered(2)) }?.code == .unavailable)
        #expect(try await store.load() == .numbered(1))
    }

    @Test func `a save sets the store's accessibility of a new or existing item`() async throws {
        let both = [KeychainAccessibility.afterFirstUnlockThisDeviceOnly, .whenUnlockedThisDeviceOnly]
        for order in [both, both.reversed()] {
            let model = ModelKeychain()
            for (number, accessibility) in order.enumerated() {
                try await KeychainTokenStore.over(model, accessibility: accessibility).save(.numbered(number))
                #expect(model.items.map(\.accessibility) == [accessibility])
            }
        }
    }

    @Test func `calls of a Mac's older Keychain have no group and no accessibility`() async throws {
        let mac = ModelKeychain.ofAnOlderMac
        let location = KeychainLocation(service: "articles", accessGroup: "shared.group", keychain: .fileBased)
        try await KeychainTokenStore.over(mac, at: location).save(.numbered(1))
        #expect(mac.asked.allSatisfy { $0.accessibility == nil && $0.location.accessGroup == nil })
        #expect(mac.asked.allSatisfy { $0.location.keychain == .fileBased })
    }

    @Test func `an access group is named in every call`() async throws {
        let group = KeychainTokenStore.over(model, at: .own.inGroup("shared.group"))
        try await group.save(.numbered(1))
        _ = try await group.load()
        try await group.delete()
        #expect(Set(model.calls) == Set(KeychainCall.allCases))
        #expect(model.asked.allSatisfy { $0.location.accessGroup == "shared.group" })
    }

    @Test func `a bundle is not saved over a later one or the end of its session; another session is`() async throws {
        let tombstone = SessionTombstone(session: SessionID(rawValue: "session-1"), reason: .byUser, date: Date())
        for stored in [.active(.numbered(2)), .tombstone(tombstone)] as [StoredSession] {
            let (model, data) = (ModelKeychain(), try TokenEnvelope.encode(stored))
            model.insert(data, at: .own)
            let store = KeychainTokenStore.over(model)
            #expect(await storeError { try await store.save(.numbered(1)) }?.code == .superseded)
            #expect(model.data(at: .own) == data)
            try await store.expectRoundTrip(of: .numbered(1, of: SessionID(rawValue: "session-2")))
        }
    }

    @Test func `of concurrent saves the latest generation stays`() async throws {
        await withTaskGroup(of: Void.self) { group in
            for generation in (1...40).shuffled() {
                group.addTask { [store] in try? await store.save(.numbered(generation)) }
            }
        }
        #expect(try await store.load() == .numbered(40))
        #expect(model.items.count == 1)
    }

    @Test func `a sign-out removes every item of a Mac's older Keychain, which deletes one at a time`() async throws {
        let mac = ModelKeychain.ofAnOlderMac
        let location = KeychainLocation(service: "articles", keychain: .fileBased)
        for generation in 1...3 { try mac.insert(TokenBundle.numbered(generation).stored, at: location) }
        let store = KeychainTokenStore.over(mac, at: location)
        try await store.delete()
        #expect(mac.items.isEmpty)
        #expect(try await store.load() == nil)
    }
}
