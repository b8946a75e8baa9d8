import AuthInterface
import Foundation
import TestSupport
import Testing

@testable import Storage

@Suite("A new installation removes the items of an earlier one, and never others", .timeLimit(.minutes(10)))
struct KeychainInstallTests {
    private let model = ModelKeychain()
    private let mark = Flag(false)
    private let folder = TemporaryFolder()

    /// Leaves items of an earlier installation.
    init() throws {
        try model.insert(TokenBundle.numbered(1).stored, at: .own)
        try model.insert(TokenBundle.numbered(2).stored, at: .older)
        model.insertTokens()
    }

    private var marker: InstallMarker {
        InstallMarker(isSet: { [mark] in mark.isSet }, set: { [mark] in mark.isSet = true })
    }

    private func store(
        _ marker: InstallMarker? = nil, isProtectedDataAvailable: @escaping @Sendable () async -> Bool = { true }
    ) -> KeychainTokenStore {
        .over(
            model, predecessors: [.bundle(at: .older), .twoTokens], marker: marker ?? self.marker,
            isProtectedDataAvailable: isProtectedDataAvailable)
    }

    @Test func `a new installation starts empty, wherever the tokens were before`() async throws {
        let bert = KeychainLocation(service: KeychainLocation.own.service, account: "bert")
        try model.insert(TokenBundle.numbered(3).stored, at: bert)
        #expect(try await store().load() == nil)
        #expect(model.items.map(\.location.account) == ["bert"])
        #expect(mark.isSet)
    }

    @Test func `a marker that is set counts, even on a locked device`() async throws {
        mark.isSet = true
        model.set(.locked)
        #expect(try await store { false }.load() == .numbered(1))
    }

    @Test func `a missing marker does not count before protected data is available`() async throws {
        let before = model.items
        let isAvailable = Flag(false)
        let store = store { isAvailable.isSet }
        await store.expectFailures(of: [.load, .save], .unavailable)
        #expect(model.items == before)
        #expect(!mark.isSet)
        mark.isSet = true
        isAvailable.isSet = true
        #expect(try await store.load() == .numbered(1))
    }

    @Test func `protected data is checked before the marker`() async throws {
        let store = store { [mark] in
            // The device is unlocked during the call: the marker is found from now on.
            mark.isSet = true
            return true
        }
        #expect(try await store.load() == .numbered(1))
    }

    @Test func `a marker that cannot be read, or a file that cannot be created, removes nothing`() async throws {
        let before = model.items
        let obstacle = try TemporaryFile(Data())
        let file = InstallMarker.file(at: obstacle.url.appendingPathComponent("installed"))
        let unreadable = InstallMarker(isSet: { throw ScriptedFailure() }, set: {})
        for marker in [file, unreadable] {
            await store(marker).expectFailures(of: [.load, .save], .unavailable)
            #expect(model.items == before)
        }
        try await store(unreadable).delete()
        #expect(model.items.isEmpty, "a sign-out needs no marker")
    }

    @Test func `nothing is saved before the marker is set`() async throws {
        for set in [{ throw ScriptedFailure() }, {}] as [@Sendable () throws -> Void] {
            await store(InstallMarker(isSet: { false }, set: set)).expectFailures(of: [.save], .unavailable)
            #expect(model.items.isEmpty)
        }
    }

    @Test func `the marker is not set while an item cannot be removed`() async throws {
        model.script(.delete, .interactionNotAllowed)
        let store = KeychainTokenStore.over(model, marker: marker)
        #expect(await storeError { _ = try await store.load() }?.code == .unavailable)
        #expect(!mark.isSet)
        #expect(try await store.load() == nil)
        #expect(mark.isSet)
    }

    @Test func `the first launch of an extension ends no session where the marker is in the shared container`()
        async throws
    {
        let file = folder.fresh().appendingPathComponent("Application Support/installed")
        let group = InstallMarker.file(at: file)
        #expect(try await store(group).load() == nil)
        #expect(FileManager.default.fileExists(atPath: file.path), "the first call creates it, and its folder")
        try await store(group).save(.numbered(5))
        #expect(try await store(group).load() == .numbered(5))
        // With a container of its own the extension is a new installation.
        #expect(try await store(.file(at: folder.fresh().appendingPathComponent("installed"))).load() == nil)
        #expect(try await store(group).load() == nil)
    }

    @Test func `an update that introduces the marker keeps the session where something older counts, too`() async throws
    {
        let database = Flag(true)
        let file = InstallMarker.file(at: folder.fresh().appendingPathComponent("installed"))
        let marker = InstallMarker(isSet: { try file.isSet() || database.isSet }, set: file.set)
        #expect(try await store(marker).load() == .numbered(1))
        database.isSet = false
        #expect(try await store(marker).load() == nil)
    }

    @Test func `a crash during the removal does not remove later tokens`() async throws {
        try await ModelKeychain.forEveryDeath {
            mark.isSet = false
            let model = ModelKeychain()
            try model.insert(TokenBundle.numbered(1).stored, at: .own)
            return model
        } _: { model, dying in
            _ = try? await KeychainTokenStore.over(dying, marker: marker).load()
            try await KeychainTokenStore.over(model, marker: marker).save(.numbered(5))
            #expect(try await KeychainTokenStore.over(model, marker: marker).load() == .numbered(5))
        }
    }
}
