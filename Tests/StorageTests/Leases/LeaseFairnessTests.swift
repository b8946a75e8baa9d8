import AuthInterface
import Foundation
import TestSupport
import Testing

@testable import Storage

// A process that another test starts has a copy of every open file until its first instruction, and so of every place
// in a queue. The tests wait until a place is free.
@Suite("Waiters for the lease of a file get it in the order of their arrival", .timeLimit(.minutes(10)))
struct LeaseFairnessTests {
    private let temporary: TemporaryFolder
    private let folder: URL
    private let store: FileTokenStore

    init() throws {
        temporary = try TemporaryFolder()
        folder = temporary.fresh()
        try folder.makePrivateFolder()
        store = FileTokenStore(folder: folder)
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

    @Test func `tickets are ordered by their time, and a deallocated one leaves the queue`() async throws {
        var tickets = try (0..<5).map { _ in try #require(try ticket()) }
        #expect(tickets.map { $0.waitersAhead(atMost: 9) } == [0, 1, 2, 3, 4])
        #expect(tickets.map { $0.waitersAhead(atMost: 2) } == [0, 1, 2, 2, 2])
        #expect(tickets[0].first == nil)
        let second = tickets[2].first
        tickets.remove(at: 0)
        do {
            let next = tickets[0]
            try await until { next.first == nil }
        }
        #expect(tickets[1].first != second)
        #expect(tickets.map { $0.waitersAhead(atMost: 9) } == [0, 1, 2, 3])
        tickets = []
        try await until { try isQueueEmpty() }
    }

    private static let queue = "default.json.lease.queue"

    private func ticket() throws -> LeaseTicket? { LeaseTicket(in: try .existing(folder), Self.queue) }

    private func isQueueEmpty() throws -> Bool { LeaseTicket.isQueueEmpty(in: try .existing(folder), Self.queue) }
}
