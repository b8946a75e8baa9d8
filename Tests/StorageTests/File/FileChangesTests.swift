import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import Foundation
import ProcessTesting
import Testing

@testable import Storage

@Suite("EN6: `changes` of the file store")
struct FileChangesTests {
    private let temporary: TemporaryFolder
    private let folder: URL
    private let store: FileTokenStore

    init() throws {
        temporary = try TemporaryFolder()
        folder = temporary.fresh()
        store = FileTokenStore(folder: folder)
    }

    @Test("A save, an end and a delete of another process are reported")
    func otherProcess() async throws {
        try await store.save(.numbered(0))
        var reports = store.changes.makeAsyncIterator()
        let talker = Talker(try SpawnedProcess(torture: "talk", folder))
        for (command, kind) in [("save", "active"), ("end", "ended"), ("delete", "empty")] {
            _ = try await talker.tell(command)
            #expect(await reports.next() != nil)
            #expect(try await kindOfContent() == kind)
        }
    }

    @Test("The first sign-in is reported although there was no folder when the stream was made, nor one above it")
    func firstSignIn() async throws {
        let deep = folder.appendingPathComponent("one/two/tokens")
        let store = FileTokenStore(folder: deep, anchor: temporary.url)
        var reports = store.changes.makeAsyncIterator()
        let other = FileTokenStore(folder: deep, anchor: temporary.url)
        try await other.save(.numbered(1))
        #expect(await reports.next() != nil)
        while try await store.load() == nil { await reports.next() }
        try await other.delete()
        repeat { #expect(await reports.next() != nil) } while try await store.load() != nil
    }

    @Test("Writes of other accounts, and locks and leases of this one, are not reported")
    func filtered() async throws {
        try await store.save(.numbered(1))
        let (reports, isLast) = (Locked(0), Gate())
        let mine = FolderWatcher.shared.subscribe(to: folder.path, "default.json") { _ in
            reports.withLock { $0 += 1 }
        }
        // Events are delivered in the order in which they happened: the last one tells that all others are through.
        let last = FolderWatcher.shared.subscribe(to: folder.path, "last.json") { _ in isLast.open() }
        try await FileTokenStore(folder: folder, account: "ada").save(.numbered(1))
        await (try await store.lease(waitingAtMost: .zero)).release()
        try await store.update { _ in nil }
        try await FileTokenStore(folder: folder, account: "last").save(.numbered(1))
        await isLast.pass()
        #expect(reports.withLock { $0 } == 0)
        for subscription in [mine, last] { FolderWatcher.shared.unsubscribe(try #require(subscription)) }
    }

    @Test("A stream ends when its folder is removed or renamed", arguments: [true, false])
    func ended(isRemoved: Bool) async throws {
        try await store.save(.numbered(1))
        var reports = store.changes.makeAsyncIterator()
        if isRemoved {
            try FileManager.default.removeItem(at: folder)
        } else {
            try FileManager.default.moveItem(at: folder, to: temporary.fresh())
        }
        while await reports.next() != nil {}
    }

    @Test("Where there is nothing to watch, the stream has ended at once")
    func nothingToWatch() async throws {
        let orphan = FileTokenStore(folder: folder.appendingPathComponent("tokens"))
        for await _ in orphan.changes { Issue.record("a report from nowhere") }
    }

    #if os(Linux)
    @Test("1,000 streams share one descriptor and one watch, and leave no watch and no thread behind")
    func resources() async throws {
        let lines = try await SpawnedProcess(torture: "streams", folder, 1_000).remainingLines()
        let counts = lines.map { line in line.split(separator: " ").dropFirst().compactMap { Int($0) } }
        try #require(counts.count == 3 && counts.allSatisfy { $0.count == 4 }, "\(lines)")
        let (before, meanwhile, after) = (counts[0], counts[1], counts[2])
        #expect(before[0] == meanwhile[0] && meanwhile[0] == after[0])
        #expect(counts.allSatisfy { $0[1] == 1 && $0[2] <= 1 })
        #expect(after[3] <= before[3] + 2)
    }
    #endif

    private func kindOfContent() async throws -> String {
        switch try await store.read() {
        case .empty: "empty"
        case .active: "active"
        case .ended: "ended"
        }
    }
}
