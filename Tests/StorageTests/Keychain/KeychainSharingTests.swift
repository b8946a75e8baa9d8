import AuthInterface
import ContractTesting
import Foundation
import TestSupport
import Testing

@testable import Storage

@Suite("G13: an application and its extensions share an item")
struct KeychainSharingTests {
    private let model = ModelKeychain()
    private let folder: TemporaryFolder
    private let lockFile: URL

    init() throws {
        folder = try TemporaryFolder()
        lockFile = folder.url.appendingPathComponent("anna.lease")
    }

    private func process(_ predecessors: [KeychainPredecessor] = []) -> SharedKeychainTokenStore {
        KeychainTokenStore.over(model, predecessors: predecessors).sharedOnModel(lockFile: lockFile)
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

    @Test func `of the saves of several processes the latest generation stays`() async throws {
        await withTaskGroup(of: Void.self) { group in
            for generation in (1...24).shuffled() {
                let process = process()
                group.addTask { try? await process.save(.numbered(generation)) }
            }
        }
        #expect(try await process().load() == .numbered(24))
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
        try await impatient.save(.numbered(1))
        #expect(try await impatient.load() == .numbered(1))
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

    @Test func `a lease that is deallocated is released`() async throws {
        do { _ = try await process().lease(waitingAtMost: .zero) }
        let lease = try await process().lease(waitingAtMost: .zero)
        await lease.release()
    }

    @Test func `the lease of one account does not block another account`() async throws {
        let other = KeychainTokenStore.over(model, at: .older)
            .sharedOnModel(lockFile: folder.url.appendingPathComponent("bert.lease"))
        let first = try await process().lease(waitingAtMost: .zero)
        let second = try await other.lease(waitingAtMost: .zero)
        await first.release()
        await second.release()
    }

    @Test func `a wait for a lease ends at its limit, on the injected clock`() async throws {
        let clock = ManualTimeSource()
        let lease = try await process().lease(waitingAtMost: .zero)
        let waiter = Task {
            try await KeychainTokenStore.over(model).sharedOnModel(lockFile: lockFile, clock: clock)
                .lease(waitingAtMost: .seconds(3_600))
        }
        await clock.sleepers(atLeast: 1)
        clock.advance(by: .seconds(3_600))
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
}
