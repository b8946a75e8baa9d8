import AuthInterface
import ConcurrencyPrimitives
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
        session: SessionID(rawValue: "session-1"), reason: .expired(SessionEnding(status: 400, code: "invalid_grant")),
        date: Date(timeIntervalSince1970: 1_800_000_000))

    private var lockFile: URL { folder.url.appendingPathComponent("anna.lease") }

    private func process(
        over items: ModelKeychain? = nil, _ predecessors: [KeychainPredecessor] = [],
        isProtectedDataAvailable: @escaping @Sendable () async -> Bool = { true }
    ) -> SharedKeychainTokenStore {
        let store = KeychainTokenStore.over(
            items ?? model, predecessors: predecessors, isProtectedDataAvailable: isProtectedDataAvailable)
        return store.sharedOnModel(lockFile: lockFile)
    }

    /// The store of a process that waits for the write lock no longer than a limit.
    private func process(waitingToWrite limit: Duration) -> KeychainTokenStore {
        var item = process().store.item
        item.lockFile = KeychainLockFile(lockFile, writingLimit: limit)
        return KeychainTokenStore(item: item, isProtectedDataAvailable: { true })
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
        model.insertTokens()
        let bundles = try await withThrowingTaskGroup(of: TokenBundle?.self) { group in
            for _ in 1...8 {
                let process = process([.twoTokens])
                group.addTask { try await process.load() }
            }
            return try await group.reduce(into: Set<TokenBundle?>()) { $0.insert($1) }
        }
        #expect(bundles.count == 1 && bundles.first??.refreshToken == "refresh-0")
    }

    @Test func `while another process writes, a write is busy after a limit, and no read returns none`() async throws {
        let (impatient, patient) = (process(waitingToWrite: .zero), process(waitingToWrite: .seconds(600)))
        let writing = try KeychainLockFile(lockFile).lockForWriting()
        await impatient.expectFailures(.busy)
        // The limit is long for busy machines: the release ends the wait.
        let save = Task { try await patient.save(.numbered(1)) }
        for _ in 1...10 { await Task.yield() }
        #expect(model.items.isEmpty)
        writing.release()
        try await save.value
        #expect(try await process().load() == .numbered(1))
        try await impatient.expectRoundTrip(of: .numbered(2))
    }

    @Test func `the folder of the lock files need not be private or exist, and they stay empty`() async throws {
        try folder.url.setPermissions(0o755)
        try await process().save(.numbered(1))
        let deep = folder.fresh()
        let store = KeychainTokenStore.over(model).sharedOnModel(lockFile: deep.appendingPathComponent("anna.lease"))
        let lease = try await store.lease(waitingAtMost: .zero)
        try await store.save(.numbered(2))
        await lease.release()
        #expect(try await process().load() == .numbered(2))
        #expect(try deep.names == ["anna.lease", "anna.lease.writing"])
        for name in try deep.names { #expect(try Data(contentsOf: deep.appendingPathComponent(name)).isEmpty) }
    }

    @Test func `a lock file that is a link is refused, and nothing is written`() async throws {
        let target = folder.url.appendingPathComponent("target")
        for name in ["anna.lease", "anna.lease.writing"] {
            let link = folder.url.appendingPathComponent(name)
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
        }
        await process().expectFailures(of: [.lease, .save], .insecure)
        #expect(model.items.isEmpty)
    }

    @Test
    func `an item that cannot be decrypted is unavailable to a read, a failure to a change, and replaced by a sign-in`()
        async throws
    {
        try await process().save(.numbered(1))
        model.damage(.own.inGroup("own.group"))
        #expect(await storeError { _ = try await process().read() }?.code == .unavailable)
        #expect(try await found(by: process(), storing: .active(.numbered(1))).map(\.code) == [.corrupt])
        #expect(try await process().load() == .numbered(1))
        model.damage(.own.inGroup("own.group"))
        try await KeychainTokenStore.over(model).expectRoundTrip(of: .numbered(0))
    }

    @Test func `every other failure is thrown, and the change is not called`() async throws {
        let isAvailable = Flag(false)
        let store = process { isAvailable.isSet }
        let (refusing, later) = (ModelKeychain(), ModelKeychain())
        refusing.fail(.copyMatching, with: .interactionNotAllowed)
        later.insert(.ofLaterVersion, at: .own)
        for (store, code) in [
            (process(over: later), .unsupportedVersion), (process(over: refusing), .unavailable),
            (store, .unavailable),  // not found, before protected data is available
        ] as [(SharedKeychainTokenStore, TokenStoreError.Code)] {
            let error = await storeError {
                try await store.update { _ in
                    Issue.record("the change was called")
                    return .empty
                }
            }
            #expect(error?.code == code)
        }
        #expect(later.data(at: .own) == .ofLaterVersion)
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
        model.insertTokens()
        let store = process([.twoTokens])
        let first = try await found(by: store)
        #expect(first == (try await found(by: store)))
        #expect(try first.first?.get().bundle?.refreshToken == "refresh-0")
        #expect(model.items.map(\.location.service) == [KeychainLocation.own.service])
    }

    @Test func `an interrupted end leaves the session or its tombstone, and nothing older`() async throws {
        try await ModelKeychain.forEveryDeath {
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
