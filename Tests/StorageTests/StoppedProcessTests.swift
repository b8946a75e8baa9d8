import AuthInterface
import Foundation
import TestSupport
import Testing

@testable import Storage

@Suite("A stopped process does not block other processes indefinitely", .timeLimit(.minutes(10)))
struct StoppedProcessTests: TemporaryStoreTests {
    let place = TemporaryStore()
    private let bundle = TokenBundle.numbered(1)

    @Test func `G24: the process that holds a lease is named, and its name goes with the lease`() async throws {
        try await store.save(bundle)
        let lease = store.file.appendingPathExtension("lease")
        let (process, child) = try await SpawnedProcess.holdingLease(of: folder)
        defer { kill(child, SIGKILL) }
        process.stop()
        let holders = Recorder<LeaseHolder>()
        let error = await storeError { _ = try await store.lease(waitingAtMost: .zero) { holders.record($0) } }
        let holder = try #require(holders.values.first)
        #expect(holders.values.count == 1)
        #expect(holder.process.process.hasPrefix("\(process.identifier)-"))
        #expect(holder.process.host == ProcessIdentity.current.host)
        let since = try #require(holder.since)
        #expect(since <= Date() && since > Date() - 600)
        #expect(error?.code == .busy)
        #expect(error?.reason.contains("process \(process.identifier)-") == true)
        #expect(error?.reason.contains("of this host since \(since.formatted(.iso8601))") == true)

        // A killed holder leaves its name, which is not taken for that of the next one.
        process.kill(SIGKILL)
        let next = try await store.lease(waitingAtMost: .seconds(3_600))
        let busy = await storeError { _ = try await store.lease(waitingAtMost: .zero) }
        #expect(busy?.reason.contains("this process since") == true)
        await next.release()
        #expect(try Data(contentsOf: lease).isEmpty)
    }

    @Test func `while a writer is stopped, other writes are busy after a limit, and reads continue`() async throws {
        try await store.save(bundle)
        let process = try SpawnedProcess(peer: "hold-write", folder)
        var lines = process.lines.makeAsyncIterator()
        #expect(await lines.next() == "holding")
        process.stop()
        let hasty = FileTokenStore(folder: folder, anchor: nil, writeLimit: .milliseconds(20))
        for call in [{ try await hasty.update { _ in .empty } }, { try await hasty.delete() }] {
            let error = await storeError { try await call() }
            #expect(error?.code == .busy)
            let words = "has held the lock on \(folder.path)/default.json.lock for 20 ms"
            #expect(error?.reason.contains(words) == true)
            #expect(error?.reason.contains("it may be suspended: resume or end it") == true)
        }
        let patient = Task { try await store.delete() }
        #expect(try await store.load() == bundle)
        process.kill(SIGCONT)
        try process.finishInput()
        #expect(await lines.next() == "done")
        try await patient.value
        #expect(try await store.read() == .empty)
    }
}
