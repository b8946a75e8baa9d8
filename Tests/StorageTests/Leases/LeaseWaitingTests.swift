import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import TestSupport
import Testing

@testable import Storage

// A process that another test starts has a copy of every open file until its first instruction, and so of every place
// in a queue. The tests wait until a place is free.
@Suite("Waiters for a lease get it in the order of their arrival, and leave nothing behind", .timeLimit(.minutes(10)))
struct LeaseWaitingTests: TemporaryStoreTests {
    private static let lease = "default.json.lease"
    private static let queue = "default.json.lease.queue"

    let place = TemporaryStore()

    init() throws { try folder.makePrivateFolder() }

    private func attempt(_ request: LeaseRequest) throws -> FolderLock? {
        try request.attempt(in: .existing(folder), Self.lease)
    }

    private func ticket() throws -> LeaseTicket? { LeaseTicket(in: try .existing(folder), Self.queue) }

    private func isQueueEmpty() throws -> Bool { LeaseTicket.isQueueEmpty(in: try .existing(folder), Self.queue) }

    /// A clock whose sleeps end when a gate opens, and not when their task is cancelled.
    private struct DeafClock: TimeSource {
        let gate = Gate()
        var uptime: Duration { .zero }
        var date: Date { Date() }

        func sleep(until deadline: Duration) async throws { await gate.pass() }
    }

    @Test func `A waiter that is cancelled does not take the lease, with any clock`() async throws {
        let clock = DeafClock()
        let attempts = Locked(0)
        let waiter = Task {
            try await LeasePolling(clock: clock).wait(atMost: .seconds(60)) {
                attempts.withLock { $0 += 1 }
                guard attempts.withLock({ $0 }) == 1 else { throw TokenStoreError.busy(nil) }
                return nil
            }
        }
        try await clock.gate.arrivals(atLeast: 1)
        waiter.cancel()
        clock.gate.open()
        await #expect(throws: CancellationError.self) { try await waiter.value }
        #expect(attempts.withLock { $0 } == 1)
    }

    @Test func `A waiter does not take a lease that is free while another one is before it`() throws {
        while true {
            let held = try #require(try attempt(LeaseRequest()))
            let (first, second) = (LeaseRequest(), LeaseRequest())
            let start = ContinuousClock.now
            for request in [first, second] { #expect(try attempt(request) == nil) }
            held.release()
            let taken = try attempt(second)
            taken?.release()
            // A machine that stands still for longer than the waiter waits proves nothing.
            guard ContinuousClock.now - start < LeaseRequest.stalledWaiterLimit else { continue }
            #expect(taken == nil)
            #expect(try attempt(first) != nil)
            return
        }
    }

    @Test func `A waiter that has taken the lease leaves its place in the queue`() async throws {
        let held = try #require(try attempt(LeaseRequest()))
        let request = LeaseRequest()
        #expect(try attempt(request) == nil)
        #expect(try !isQueueEmpty())
        held.release()
        let lock = try attempt(request)
        #expect(lock != nil)
        try await until { try isQueueEmpty() }
        withExtendedLifetime((request, lock)) {}
    }

    @Test func `The first in the queue is the one that has the first place, not the one that joined it first`() throws {
        let nearest = try #require(try ticket())
        let last = try #require(try ticket())
        let file = open(folder.path + "/" + Self.queue, O_RDWR | O_CLOEXEC)
        defer { close(file) }
        var lock = flock()
        (lock.l_type, lock.l_whence) = (Int16(F_WRLCK), Int16(SEEK_SET))
        (lock.l_start, lock.l_len) = (5, 1)
        // F_OFD_SETLK
        #if canImport(Darwin)
        #expect(fcntl(file, 90, &lock) == 0)
        #else
        #expect(fcntl(file, 37, &lock) == 0)
        #endif
        #expect(last.first == 5)
        #expect(last.waitersAhead(atMost: 9) == 2)
        withExtendedLifetime(nearest) {}
    }

    @Test func `A lock that is released is free, although a child process has its file open`() throws {
        let path = folder.path + "/lock"
        func openFile() -> Int32 { open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }
        let (file, other) = (openFile(), openFile())
        // What a fork does between the two processes.
        let inherited = dup(file)
        defer { for number in [other, inherited] { close(number) } }
        #expect(flock(file, LOCK_EX | LOCK_NB) == 0)
        let lock = FolderLock(number: file)
        #expect(flock(other, LOCK_EX | LOCK_NB) != 0)
        lock.release()
        #expect(flock(other, LOCK_EX | LOCK_NB) == 0)
    }

    @Test func `no process is overtaken three times by all 15 others`() async throws {
        let processes = try (0..<16).map { _ in try SpawnedProcess(peer: "contend", folder, 12) }
        var longest = 0
        for process in processes {
            longest = max(longest, Int(await process.remainingLines().first ?? "") ?? 0)
        }
        let log = try String(contentsOfFile: folder.path + ".grants", encoding: .utf8)
        let grants = log.split(separator: "\n")
        #expect(grants.count == 16 * 12)
        var last: [Substring: Int] = [:]
        var widest = 0
        for (number, process) in grants.enumerated() {
            if let before = last[process] { widest = max(widest, number - before) }
            last[process] = number
        }
        #expect(widest <= 3 * 16)
        let line = "lease of 20 ms, 16 processes: longest wait \(longest) ms, at most \(widest) grants between two\n"
        FileHandle.standardError.write(Data("torture-storage: \(line)".utf8))
    }

    @Test func `a stopped waiter does not block the others, and gets the lease when it continues`() async throws {
        let lease = try await store.lease(waitingAtMost: .zero)
        let process = try SpawnedProcess(peer: "wait", folder)
        var lines = process.lines.makeAsyncIterator()
        #expect(await lines.next() == "waiting")
        try await until { try !isQueueEmpty() }
        process.stop()
        await lease.release()
        await (try await store.lease(waitingAtMost: .seconds(3_600))).release()
        process.kill(SIGCONT)
        #expect(await lines.next() == "leased")
    }

    @Test func `a waiter that dies, times out or is cancelled leaves the queue`() async throws {
        let lease = try await store.lease(waitingAtMost: .zero)
        let process = try SpawnedProcess(peer: "wait", folder)
        try await until { try !isQueueEmpty() }
        process.kill()
        _ = await process.end()
        try await until { try isQueueEmpty() }

        let cancelled = Task { try await store.lease(waitingAtMost: .seconds(3_600)) }
        try await until { try !isQueueEmpty() }
        cancelled.cancel()
        _ = await cancelled.result
        #expect(await storeError { _ = try await store.lease(waitingAtMost: .milliseconds(5)) }?.code == .busy)
        try await until { try isQueueEmpty() }
        await lease.release()
    }
}
