import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import TestSupport
import Testing

@testable import Storage

@Suite("`changes` of the file store") struct FileChangesTests: TemporaryStoreTests {
    let place = TemporaryStore()

    @Test func `the first sign-in is reported even if the folder and its parent did not exist`() async throws {
        // Often, because the folders may be made at any instant of the look for them.
        for _ in 1...300 {
            let deep = temporary.fresh().appendingPathComponent("one/two/tokens")
            let store = FileTokenStore(folder: deep, anchor: temporary.url)
            var reports = store.changes.makeAsyncIterator()
            let other = FileTokenStore(folder: deep, anchor: temporary.url)
            try await other.save(.numbered(1))
            try #require(await reports.next() != nil)
            while try await store.load() == nil { try #require(await reports.next() != nil) }
            try await other.delete()
            repeat { try #require(await reports.next() != nil) } while try await store.load() != nil
        }
    }

    @Test func `writes of other accounts, and locks and leases of this one, are not reported`() async throws {
        try await store.save(.numbered(1))
        let (reports, isLast) = (Locked(0), Gate())
        let mine = FolderWatcher.shared.subscribe(to: folder.path, "default.json") { _ in
            reports.withLock { $0 += 1 }
        }
        // Events are delivered in order: after the last one, all others have been delivered.
        let last = FolderWatcher.shared.subscribe(to: folder.path, "last.json") { _ in isLast.open() }
        try await FileTokenStore(folder: folder, account: "ada").save(.numbered(1))
        await (try await store.lease(waitingAtMost: .zero)).release()
        try await store.update { _ in nil }
        try await FileTokenStore(folder: folder, account: "last").save(.numbered(1))
        try await isLast.passUnlessCancelled()
        #expect(reports.withLock { $0 } == 0)
        for subscription in [mine, last] { FolderWatcher.shared.unsubscribe(try #require(subscription)) }
    }

    @Test(arguments: [true, false])
    func `a stream ends when its folder is removed or renamed`(isRemoved: Bool) async throws {
        try await store.save(.numbered(1))
        var reports = store.changes.makeAsyncIterator()
        await reports.next()
        if isRemoved {
            try FileManager.default.removeItem(at: folder)
        } else {
            try FileManager.default.moveItem(at: folder, to: temporary.fresh())
        }
        while await reports.next() != nil {}
    }

    @Test func `a stream ends at once if nothing can be watched`() async throws {
        let orphan = FileTokenStore(folder: folder.appendingPathComponent("tokens"))
        for await _ in orphan.changes { Issue.record("a report from nowhere") }
    }

    @Test func `a disk that does not respond delays no access to a stream, and no other folder`() async throws {
        let (waiting, reported) = (Gate(), Locked(false))
        let queue = FileChanges.borrowQueue(of: folder.path)
        defer { FileChanges.returnQueue(of: folder.path) }
        queue.suspend()
        let (cancelled, late) = (store.changes, store.changes)
        let leaving = Task { for await _ in cancelled {} }
        let staying = Task {
            var reports = late.makeAsyncIterator()
            waiting.open()
            await reports.next()
            reported.withLock { $0 = true }
        }
        try await waiting.passUnlessCancelled()

        let other = FileTokenStore(folder: temporary.fresh())
        var reports = other.changes.makeAsyncIterator()
        #expect(await reports.next() != nil)
        try await other.save(.numbered(1))
        #expect(await reports.next() != nil)
        leaving.cancel()
        await leaving.value
        #expect(!reported.withLock { $0 })

        queue.resume()
        // It stands for what was written before.
        await staying.value
    }

    @Test(.timeLimit(.minutes(10)))
    func `a watch that is added while another one ends reports what happens`() async throws {
        try await store.save(.numbered(0))
        try await whileAnotherWatchComesAndGoes {
            for _ in 0..<1_000 {
                let isReported = Gate()
                let subscription = FolderWatcher.shared.subscribe(to: folder.path, "file") { event in
                    if case .changed = event { isReported.open() }
                }
                try Data().write(to: folder.appendingPathComponent("file"))
                try await isReported.passUnlessCancelled()
                FolderWatcher.shared.unsubscribe(try #require(subscription))
            }
        }
    }

    @Test(.timeLimit(.minutes(60)))
    func `a watch that is added again and again reports what happens`() async throws {
        try await store.save(.numbered(0))
        let file = folder.appendingPathComponent("file")
        try Data().write(to: file)
        let reports = AsyncStream.makeStream(of: Void.self)
        let subscription = FolderWatcher.shared.subscribe(to: folder.path, "file") { event in
            if case .changed = event { reports.continuation.yield() }
        }
        try await whileAnotherWatchComesAndGoes {
            var reported = reports.stream.makeAsyncIterator()
            for _ in 0..<30_000 {
                try Data().write(to: file)
                await reported.next()
            }
        }
        FolderWatcher.shared.unsubscribe(try #require(subscription))
    }

    #if os(Linux)
    @Test func `1,000 streams share one descriptor and one watch, and leave no watch and no thread`() async throws {
        let lines = try await SpawnedProcess(peer: "streams", folder, 1_000).remainingLines()
        let counts = lines.map { line in line.split(separator: " ").dropFirst().compactMap { Int($0) } }
        try #require(counts.count == 3 && counts.allSatisfy { $0.count == 4 }, "\(lines)")
        let (before, meanwhile, after) = (counts[0], counts[1], counts[2])
        #expect(before[0] == meanwhile[0] && meanwhile[0] == after[0])
        #expect(counts.allSatisfy { $0[1] == 1 && $0[2] <= 1 })
        #expect(after[3] <= before[3] + 2)
    }
    #endif

    /// The other watch is added on a thread of its own: it never waits, so it would hold one of all tasks.
    private func whileAnotherWatchComesAndGoes(_ body: () async throws -> Void) async throws {
        let (path, isOver, hasEnded) = (folder.path, Locked(false), Gate())
        Thread.detachNewThread {
            while !isOver.withLock({ $0 }) {
                FolderWatcher.shared.subscribe(to: path, "other") { _ in }.map(FolderWatcher.shared.unsubscribe)
            }
            hasEnded.open()
        }
        defer { isOver.withLock { $0 = true } }
        try await body()
        isOver.withLock { $0 = true }
        try await hasEnded.passUnlessCancelled()
    }
}
