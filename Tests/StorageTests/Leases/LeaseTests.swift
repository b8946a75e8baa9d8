import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import TestSupport
import Testing

@testable import Storage

@Suite("Leases", .timeLimit(.minutes(10))) struct LeaseTests: TemporaryStoreTests {
    private let clock = ManualTimeSource()
    let place = TemporaryStore()

    @Test func `waiters of the memory store get the lease in the order of their arrival`() async throws {
        let store = MemoryTokenStore(clock: clock)
        let order = Recorder<Int>()
        let first = try await store.lease(waitingAtMost: .zero)
        var waiters: [Task<Void, any Error>] = []
        for number in 1...5 {
            let waiter = Task {
                let lease = try await store.lease(waitingAtMost: .seconds(60))
                order.record(number)
                await lease.release()
            }
            waiters.append(waiter)
            try await clock.sleepers(atLeast: number)
        }
        await first.release()
        for waiter in waiters { try await waiter.value }
        #expect(order.values == [1, 2, 3, 4, 5])
    }

    @Test func `G24: a waiter of the memory store is notified since when this process has the lease`() async throws {
        let store = MemoryTokenStore(clock: clock)
        let date = clock.date
        let first = try await store.lease(waitingAtMost: .zero)
        clock.advance(by: .seconds(60))
        let holders = Recorder<LeaseHolder>()
        let waiter = Task { try await store.lease(waitingAtMost: .seconds(5)) { holders.record($0) } }
        try await clock.advance(toTimerIn: .seconds(5))
        let error = await #expect(throws: TokenStoreError.self) { _ = try await waiter.value }
        #expect(holders.values == [LeaseHolder(process: .current, since: date)])
        #expect(error?.reason.contains("this process since") == true)
        await first.release()
    }

    @Test func `G24: a waiter looks up the holder again, and reports another one`() async throws {
        func holder(_ number: Int) -> LeaseHolder {
            LeaseHolder(process: ProcessIdentity(host: "host", process: "\(number)"), since: nil)
        }
        let reported = Recorder<LeaseHolder>()
        let (looks, start) = (Locked(0), clock.uptime)
        let wait = Task { [clock] in
            var polling = LeasePolling(clock: clock)
            polling.holder = {
                looks.withLock { $0 += 1 }
                return holder(clock.uptime - start < .seconds(2) ? 1 : 2)
            }
            polling.report = { reported.record($0) }
            _ = try await polling.wait(atMost: .seconds(3)) { nil }
        }
        while clock.uptime - start < .seconds(3) {
            try await clock.advance(by: .milliseconds(50), whenAsleep: 1)
        }
        let error = await #expect(throws: TokenStoreError.self) { try await wait.value }
        #expect(reported.values == [holder(1), holder(2)])
        #expect(error?.reason.contains("process 2 of host host") == true)
        #expect((4...5).contains(looks.withLock { $0 }), "once a second, and at the end")
    }

    @Test func `a lease that is deallocated is released`() async throws {
        let stores: [any SharedTokenStore] = [MemoryTokenStore(), store]
        for store in stores {
            try await store.save(.numbered(1))
            for _ in 1...3 { _ = try await store.lease(waitingAtMost: .zero) }
        }
    }

    @Test func `the pauses of a waiter of the file store grow, and it times out at its limit`() async throws {
        let asked = Recorder<Duration>()
        let start = clock.uptime
        let wait = Task { [clock] in
            _ = try await LeasePolling(clock: clock).wait(atMost: .milliseconds(200)) {
                asked.record(clock.uptime - start)
                return nil
            }
        }
        for _ in 1...200 {
            try await clock.advance(by: .milliseconds(1), whenAsleep: 1)
            let isOver = clock.uptime - start >= .milliseconds(200)
            if isOver { break }
        }
        let error = await #expect(throws: TokenStoreError.self) { try await wait.value }
        #expect(error?.code == .busy)
        #expect(asked.values == [0, 2, 6, 14, 30, 62, 112, 162, 200].map { .milliseconds($0) })
    }

    /// What can happen to the file of a lease or lock, in its folder.
    enum Change: CaseIterable, Sendable {
        case removed, replaced, folderMoved, folderReplaced, folderRemoved

        func apply(to file: URL) throws {
            let (manager, folder) = (FileManager.default, file.deletingLastPathComponent())
            switch self {
            case .removed: try manager.removeItem(at: file)
            case .replaced:
                try manager.removeItem(at: file)
                try file.writePrivately(Data())
            case .folderMoved: try manager.moveItem(at: folder, to: folder.appendingPathExtension("old"))
            case .folderReplaced:
                try manager.moveItem(at: folder, to: folder.appendingPathExtension("old"))
                try manager.copyItem(at: folder.appendingPathExtension("old"), to: folder)
            case .folderRemoved: try manager.removeItem(at: folder)
            }
        }
    }

    @Test(arguments: Change.allCases)
    func `a lease is lost when its file is no longer the one at its path, and the next one has the lock`(change: Change)
        async throws
    {
        try await store.save(.numbered(1))
        let lease = try await store.lease(waitingAtMost: .zero)
        #expect(!lease.isLost)
        try change.apply(to: store.file.appendingPathExtension("lease"))
        #expect(lease.isLost)
        guard change == .removed || change == .replaced else { return }
        let next = try await FileTokenStore(folder: folder).lease(waitingAtMost: .zero)
        #expect(!next.isLost)
        #expect(next.mayStillCall(.test(under: lease.identity)), "its holder is alive")
        #expect(next.mayStillCall(.test("another", under: next.identity)), "nothing is known of another host")
        #expect(await storeError { _ = try await store.lease(waitingAtMost: .zero) }?.code == .busy)
        await lease.release()
        #expect(next.mayStillCall(.test(under: lease.identity)), "nothing shows that it was released")
        #expect(await storeError { _ = try await store.lease(waitingAtMost: .zero) }?.code == .busy)
        await next.release()
    }

    @Test func `no lock is taken in a folder that was replaced since it was opened`() async throws {
        try folder.makePrivateFolder()
        let opened = try PrivateFolder.existing(folder)
        try Change.folderReplaced.apply(to: store.file)
        for name in ["default.json.lock", "default.json.lease"] {
            let error = await storeError { _ = try opened.tryLock(name) }
            #expect(error?.code == .unavailable)
        }
    }

    @Test(arguments: Change.allCases)
    func `an update writes nothing, and says so, when its lock or folder was taken away`(change: Change) async throws {
        try await store.save(.numbered(1))
        let error = await storeError {
            try await store.update { _ in
                try? change.apply(to: store.file.appendingPathExtension("lock"))
                return .active(.numbered(2))
            }
        }
        #expect(error?.code == .unavailable)
        guard change != .folderMoved, change != .folderRemoved else { return }
        #expect(try await FileTokenStore(folder: folder).load() == .numbered(1))
    }
}
