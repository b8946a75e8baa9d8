import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import Foundation
import TestSupport
import Testing

@testable import Storage

@Suite("An update of a shared item is atomic")
struct KeychainUpdateTests {
    private typealias Found = Result<StoredSession, TokenStoreError>

    private let model = ModelKeychain()
    private let folder: TemporaryFolder
    private let lockFile: URL
    private let tombstone = SessionTombstone(
        session: SessionID(rawValue: "session-1"),
        reason: .expired(SessionEnding(status: 400, code: "invalid_grant")),
        date: Date(timeIntervalSince1970: 1_800_000_000)
    )

    init() throws {
        folder = try TemporaryFolder()
        lockFile = folder.url.appendingPathComponent("anna.lease")
    }

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

    /// Does something that waits for other writers, on a machine that may keep them for longer than a write waits.
    private func whenFree(_ write: () async throws -> Void) async throws {
        while true {
            do { return try await write() } catch let error as TokenStoreError where error.code == .busy {}
        }
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

    @Test func `no update of many processes is lost`() async throws {
        try await process().save(.numbered(0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1...40 {
                let process = process()
                group.addTask {
                    try await whenFree {
                        try await process.update { found in
                            guard case .success(.active(let bundle)) = found else { return nil }
                            return .active(.numbered(bundle.generation + 1))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await process().load() == .numbered(40))
        #expect(model.items.count == 1)
    }

    @Test func `a sign-out among refreshes stays: no later save brings the session back`() async throws {
        try await process().save(.numbered(0))
        await withTaskGroup(of: Void.self) { group in
            for generation in 1...20 {
                let process = process()
                group.addTask { try? await process.save(.numbered(generation)) }
            }
            let leaver = process()
            group.addTask { [tombstone] in
                try? await whenFree { try await leaver.update { _ in .tombstone(tombstone) } }
            }
        }
        #expect(try await process().read() == .tombstone(tombstone))
    }

    @Test func `a tombstone replaces the tokens in the item`() async throws {
        try await process().save(.numbered(1))
        try await process().update { [tombstone] _ in .tombstone(tombstone) }
        #expect(try await process().read() == .tombstone(tombstone))
        #expect(try await process().load() == nil)
        #expect(model.items.count == 1)
        let data = try #require(model.data(at: .own))
        for token in ["access-1", "refresh-1"] { #expect(data.range(of: Data(token.utf8)) == nil) }
        let error = await storeError { try await process().save(.numbered(2)) }
        #expect(error?.code == .superseded)
    }

    @Test func `a corrupt item is a failure to the change, and is replaced`() async throws {
        for new in [StoredSession.active(.numbered(2)), .tombstone(tombstone), .empty] {
            model.insert(.garbage, at: .own)
            let untouched = try await found(by: process())
            #expect(untouched.map(\.code) == [.corrupt])
            #expect(model.data(at: .own) == .garbage)
            #expect(try await found(by: process(), storing: new).map(\.code) == [.corrupt])
            #expect(try await process().read() == new)
            try await process().delete()
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

    @Test(arguments: [true, false])
    func `an interrupted end leaves the session or its tombstone, and nothing older`(returnsLastResult: Bool)
        async throws
    {
        for calls in 0... {
            let model = ModelKeychain()
            try model.insert(TokenBundle.numbered(5).stored, at: .own)
            try model.insert(TokenBundle.numbered(1, of: SessionID(rawValue: "session-0")).stored, at: .older)
            let dying = DyingKeychain(model, dyingAfter: calls, returnsLastResult: returnsLastResult)
            let isDone: Void? = try? await process(over: dying, [.bundle(at: .older)])
                .update { [tombstone] _ in .tombstone(tombstone) }
            let found = try await process(over: model, [.bundle(at: .older)]).read()
            #expect(found == .tombstone(tombstone) || found == .active(.numbered(5)))
            if isDone != nil { #expect(found == .tombstone(tombstone)) }
            #expect(model.items.count == 1, "nothing old is left")
            if !dying.isDead { break }
        }
    }

    @Test func `a write is reported to every process after the item has changed`() async throws {
        var reports = process().changes.makeAsyncIterator()
        let contents: [StoredSession] = [.active(.numbered(1)), .tombstone(tombstone)]
        for content in contents {
            try await process().update { _ in content }
            #expect(await reports.next() != nil)
            #expect(try await process().read() == content)
        }
        try await process().delete()
        #expect(await reports.next() != nil)
        #expect(try await process().read() == .empty)
    }

    @Test func `the name of the notification is the same in every process, and shows no account`() {
        let name = ChangeName.of(.own)
        #expect(name == "latchkey.tokens-changed.cdb0585228a5b963")
        let others = [KeychainLocation.older, .access, .own.inGroup("shared.group")].map(ChangeName.of)
        #expect(Set(others + [name]).count == 4)
    }

    @Test func `the owner of an intent is dead when its lease was free, unless it is on another host`() async throws {
        let lease = try await process().lease(waitingAtMost: .zero)
        #expect(!lease.mayStillCall(.test(ProcessIdentity.current.host, under: lease.identity)))
        #expect(lease.mayStillCall(.test("another", under: lease.identity)))
        await lease.release()
    }
}

extension Result<StoredSession, TokenStoreError> {
    fileprivate var code: TokenStoreError.Code? {
        if case .failure(let error) = self { error.code } else { nil }
    }
}
