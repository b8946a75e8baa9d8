import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import TestSupport
import Testing

@testable import Storage

@Suite("G13: an application and its extensions share an item, and an update of it is atomic", .timeLimit(.minutes(10)))
struct KeychainSharingTests {
    private typealias Found = Result<StoredSession, TokenStoreError>

    private let model = ModelKeychain()
    private let folder = TemporaryFolder()
    private let tombstone = SessionTombstone(
        session: SessionID(rawValue: "session-1"),
        reason: .expired(SessionEnding(status: 400, code: "invalid_grant")),
        date: Date(timeIntervalSince1970: 1_800_000_000)
    )

    private var lockFile: URL { folder.url.appendingPathComponent("anna.lease") }

    private func process(
        over items: (any KeychainItems)? = nil,
        _ predecessors: [KeychainPredecessor] = [],
        isProtectedDataAvailable: @escaping @Sendable () async -> Bool = { true }
    ) -> SharedKeychainTokenStore {
        KeychainTokenStore.over(
            items ?? model,
            predecessors: predecessors,
            isProtectedDataAvailable: isProtectedDataAvailable
        )
        .sharedOnModel(lockFile: lockFile)
    }

    /// The arguments of the updates, in order.
    private func found(by store: SharedKeychainTokenStore, storing new: StoredSession? = nil) async throws -> [Found] {
        let found = Locked<[Found]>([])
        try await store.update { content in
            found.withLock { $0.append(content) }
            return new
        }
        return found.withLock { $0 }
    }

    @Test func `processes that move the tokens at once agree on one session`() async throws {
        model.insert(Data("access-0".utf8), at: .access)
        model.insert(Data("refresh-0".utf8), at: .refresh)
        let bundles = try await withThrowingTaskGroup(of: TokenBundle?.self) { group in
            for _ in 1...8 {
                let process = process([.separateTokens(access: .access, refresh: .refresh)])
                group.addTask { try await process.load() }
            }
            return try await group.reduce(into: Set<TokenBundle?>()) { $0.insert($1) }
        }
        #expect(bundles.count == 1)
        #expect(bundles.first??.refreshToken == "refresh-0")
    }

    @Test func `while another process writes, a write is busy, and a read never returns none`() async throws {
        var item = process().store.item
        item.lockFile = KeychainLockFile(lockFile, writingLimit: .zero)
        let impatient = KeychainTokenStore(item: item, isProtectedDataAvailable: { true })
        let writing = try KeychainLockFile(lockFile).lockForWriting()
        #expect(await storeError { try await impatient.save(.numbered(1)) }?.code == .busy)
        #expect(await storeError { try await impatient.delete() }?.code == .busy)
        #expect(await storeError { _ = try await impatient.load() }?.code == .busy)
        #expect(model.items.isEmpty)
        writing.release()
        try await impatient.expectRoundTrip(of: .numbered(1))
    }

    @Test func `a write waits for the end of another write`() async throws {
        // The limit is long for busy machines: the release ends the wait.
        var item = process().store.item
        item.lockFile = KeychainLockFile(lockFile, writingLimit: .seconds(600))
        let patient = KeychainTokenStore(item: item, isProtectedDataAvailable: { true })
        let writing = try KeychainLockFile(lockFile).lockForWriting()
        let save = Task { try await patient.save(.numbered(1)) }
        for _ in 1...10 { await Task.yield() }
        #expect(model.items.isEmpty)
        writing.release()
        try await save.value
        #expect(try await process().load() == .numbered(1))
    }

    @Test func `a wait for a lease ends at its limit, on the injected clock`() async throws {
        let clock = ManualTimeSource()
        let lease = try await process().lease(waitingAtMost: .zero)
        let waiter = Task {
            try await KeychainTokenStore.over(model).sharedOnModel(lockFile: lockFile, clock: clock)
                .lease(waitingAtMost: .seconds(3_600))
        }
        try await clock.advance(by: .seconds(3_600), whenAsleep: 1)
        #expect(await storeError { _ = try await waiter.value }?.code == .busy)
        await lease.release()
    }

    @Test func `the folder of the lock file need not be private, and is created if it is missing`() async throws {
        try folder.url.setPermissions(0o755)
        try await process().save(.numbered(1))
        let deep = folder.fresh().appendingPathComponent("anna.lease")
        let store = KeychainTokenStore.over(model).sharedOnModel(lockFile: deep)
        #expect(try await store.load() == .numbered(1))
        await (try await store.lease(waitingAtMost: .zero)).release()
        #expect(FileManager.default.fileExists(atPath: deep.path))
    }

    @Test func `a lock file that is a link is refused, and nothing is written`() async throws {
        let target = folder.url.appendingPathComponent("target")
        for name in ["anna.lease", "anna.lease.writing"] {
            let link = folder.url.appendingPathComponent(name)
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
        }
        #expect(await storeError { _ = try await process().lease(waitingAtMost: .zero) }?.code == .insecure)
        #expect(await storeError { try await process().save(.numbered(1)) }?.code == .insecure)
        #expect(model.items.isEmpty)
    }

    @Test func `the lock files stay empty`() async throws {
        try await process().save(.numbered(1))
        let lease = try await process().lease(waitingAtMost: .zero)
        try await process().save(.numbered(2))
        await lease.release()
        #expect(try folder.url.names == ["anna.lease", "anna.lease.writing"])
        for name in try folder.url.names {
            #expect(try Data(contentsOf: folder.url.appendingPathComponent(name)).isEmpty)
        }
    }

    @Test func `an item that cannot be decrypted is a failure to the change, and unavailable to a read`() async throws {
        try await process().save(.numbered(1))
        model.damage(.own.inGroup("own.group"))
        #expect(await storeError { _ = try await process().read() }?.code == .unavailable)
        #expect(try await found(by: process(), storing: .active(.numbered(1))).map(\.code) == [.corrupt])
        #expect(try await process().load() == .numbered(1))
    }

    @Test func `every other failure is thrown, and the change is not called`() async throws {
        model.insert(.ofLaterVersion, at: .own)
        let change: @Sendable (Found) -> StoredSession? = { _ in
            Issue.record("the change was called")
            return .empty
        }
        #expect(await storeError { try await process().update(change) }?.code == .unsupportedVersion)
        let refusing = ScriptedKeychain(model)
        refusing.fail(.copyMatching, with: .interactionNotAllowed)
        #expect(await storeError { try await process(over: refusing).update(change) }?.code == .unavailable)
        #expect(model.data(at: .own) == .ofLaterVersion)
    }

    @Test func `not found is unavailable to a change before protected data is available`() async throws {
        let isAvailable = Flag(false)
        let store = process { isAvailable.isSet }
        let error = await storeError {
            try await store.update { _ in
                Issue.record("the change was called")
                return .empty
            }
        }
        #expect(error?.code == .unavailable)
        isAvailable.isSet = true
        #expect(try await found(by: store, storing: .active(.numbered(1))) == [.success(.empty)])
        isAvailable.isSet = false
        #expect(try await found(by: store, storing: .active(.numbered(2))) == [.success(.active(.numbered(1)))])
    }

    @Test func `a device that is unlocked during the update passes its session to the change`() async throws {
        try await process().save(.numbered(1))
        model.set(.beforeFirstUnlockAndHidden)
        let store = process { [model] in
            model.set(.unlocked)
            return true
        }
        #expect(try await found(by: store) == [.success(.active(.numbered(1)))])
    }

    @Test func `a predecessor is moved first, so that every change gets the same session`() async throws {
        model.insert(Data("access-0".utf8), at: .access)
        model.insert(Data("refresh-0".utf8), at: .refresh)
        let store = process([.separateTokens(access: .access, refresh: .refresh)])
        let first = try await found(by: store)
        #expect(first == (try await found(by: store)))
        #expect(try first.first?.get().bundle?.refreshToken == "refresh-0")
        #expect(model.items.map(\.location.service) == [KeychainLocation.own.service])
    }

    @Test func `an interrupted end leaves the session or its tombstone, and nothing older`() async throws {
        try await ScriptedKeychain.forEveryDeath {
            let model = ModelKeychain()
            try model.insert(TokenBundle.numbered(5).stored, at: .own)
            try model.insert(TokenBundle.numbered(1, of: SessionID(rawValue: "session-0")).stored, at: .older)
            return model
        } _: { model, dying in
            let isDone: Void? = try? await process(over: dying, [.bundle(at: .older)])
                .update { [tombstone] _ in .tombstone(tombstone) }
            let found = try await process(over: model, [.bundle(at: .older)]).read()
            #expect(found == .tombstone(tombstone) || found == .active(.numbered(5)))
            if isDone != nil { #expect(found == .tombstone(tombstone)) }
            #expect(model.items.count == 1, "nothing old is left")
        }
    }

    @Test func `the name of the notification is the same in every process, and shows no account`() {
        let name = ChangeName.of(.own)
        #expect(name == "latchkey.tokens-changed.f95139e2d7fe04b0")
        let others = [KeychainLocation.older, .access, .own.inGroup("shared.group")].map(ChangeName.of)
        #expect(Set(others + [name]).count == 4)
    }
}

extension Result<StoredSession, TokenStoreError> {
    fileprivate var code: TokenStoreError.Code? {
        if case .failure(let error) = self { error.code } else { nil }
    }
}
