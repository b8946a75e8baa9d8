import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import Foundation
import TestSupport
import Testing

@testable import Storage

@Suite("Leases")
struct LeaseTests {
    private let clock = ManualTimeSource()

    @Test func `waiters of the memory store get the lease in the order of their arrival`() async throws {
        let store = MemoryTokenStore(clock: clock)
        let order = Locked<[Int]>([])
        let first = try await store.lease(waitingAtMost: .zero)
        var waiters: [Task<Void, any Error>] = []
        for number in 1...5 {
            waiters.append(
                Task {
                    let lease = try await store.lease(waitingAtMost: .seconds(60))
                    order.withLock { $0.append(number) }
                    await lease.release()
                }
            )
            await clock.sleepers(atLeast: number)
        }
        await first.release()
        for waiter in waiters { try await waiter.value }
        #expect(order.withLock { $0 } == [1, 2, 3, 4, 5])
    }

    @Test func `a waiter of the memory store times out at its own limit`() async throws {
        let store = MemoryTokenStore(clock: clock)
        let first = try await store.lease(waitingAtMost: .zero)
        let shorter = Task { _ = try await store.lease(waitingAtMost: .seconds(5)) }
        await clock.sleepers(atLeast: 1)
        let longer = Task { await (try await store.lease(waitingAtMost: .seconds(6))).release() }
        await clock.sleepers(atLeast: 2)
        clock.advance(by: .seconds(5))
        let error = await #expect(throws: TokenStoreError.self) { try await shorter.value }
        #expect(error?.code == .busy)
        await first.release()
        try await longer.value
    }

    @Test func `a lease that is deallocated is released`() async throws {
        let temporary = try TemporaryFolder()
        let stores: [any SharedTokenStore] = [MemoryTokenStore(), FileTokenStore(folder: temporary.fresh())]
        for store in stores {
            try await store.save(.numbered(1))
            for _ in 1...3 { _ = try await store.lease(waitingAtMost: .zero) }
        }
    }

    @Test func `the pauses of a waiter of the file store grow, and it times out at its limit`() async throws {
        let asked = Locked<[Duration]>([])
        let start = clock.uptime
        let wait = Task { [clock] in
            _ = try await LeasePolling(clock: clock).wait(atMost: .milliseconds(200)) {
                asked.withLock { $0.append(clock.uptime - start) }
                return nil
            }
        }
        for _ in 1...200 {
            await clock.sleepers(atLeast: 1)
            clock.advance(by: .milliseconds(1))
            let isOver = clock.uptime - start >= .milliseconds(200)
            if isOver { break }
        }
        let error = await #expect(throws: TokenStoreError.self) { try await wait.value }
        #expect(error?.code == .busy)
        #expect(asked.withLock { $0 } == [0, 2, 6, 14, 30, 62, 112, 162, 200].map { .milliseconds($0) })
    }

    @Test func `a waiter of the file store gets the lease at its first attempt after the release`() async throws {
        let temporary = try TemporaryFolder()
        let store = FileTokenStore(folder: temporary.fresh(), clock: clock)
        try await store.save(.numbered(1))
        let first = try await store.lease(waitingAtMost: .zero)
        let waiter = Task { try await store.lease(waitingAtMost: .seconds(60)) }
        await clock.sleepers(atLeast: 1)
        await first.release()
        clock.advance(by: .milliseconds(2))
        let second = try await waiter.value
        #expect(await storeError { _ = try await store.lease(waitingAtMost: .zero) }?.code == .busy)
        await second.release()
    }

    @Test func `the lease of a file excludes earlier holders on this host, not on other hosts`() async throws {
        let temporary = try TemporaryFolder()
        let file = FileTokenStore(folder: temporary.fresh())
        try await file.save(.numbered(1))
        let lease = try await file.lease(waitingAtMost: .zero)
        let here = ProcessIdentity.current
        #expect(!lease.mayStillCall(here))
        #expect(!lease.mayStillCall(ProcessIdentity(host: here.host, process: "1-killed")))
        #expect(lease.mayStillCall(ProcessIdentity(host: "another", process: here.process)))
        await lease.release()

        let memory = try await MemoryTokenStore().lease(waitingAtMost: .zero)
        #expect(!memory.mayStillCall(here))
        #expect(!memory.mayStillCall(.newEngine()))
        #expect(memory.mayStillCall(ProcessIdentity(host: here.host, process: "1-another")))
    }

    @Test func `accounts have leases of their own`() async throws {
        let temporary = try TemporaryFolder()
        let folder = temporary.fresh()
        try folder.makePrivateFolder()
        let ada = try await FileTokenStore(folder: folder, account: "ada").lease(waitingAtMost: .zero)
        let bob = try await FileTokenStore(folder: folder, account: "bob").lease(waitingAtMost: .zero)
        await ada.release()
        await bob.release()
    }
}
