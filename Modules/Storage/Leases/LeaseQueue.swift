import AuthInterface
package import ConcurrencyPrimitives
import Foundation

/// An exclusive lock inside a process, whose waiters get it in the order of their requests.
///
/// Each holder has a ticket, which releases the lock once: a second release does not affect the next holder.
package final class LeaseQueue: Sendable {
    package typealias Ticket = UInt64

    private struct Waiter {
        let ticket: Ticket
        let turn: CheckedContinuation<Void, any Error>
        let limit: Task<Void, any Error>
    }

    private struct State {
        var issued: Ticket = 0
        var holder: Ticket?
        var waiting: [Waiter] = []

        mutating func issue() -> Ticket {
            issued += 1
            return issued
        }
    }

    private let state = Locked(State())
    private let clock: any TimeSource

    package init(clock: any TimeSource) {
        self.clock = clock
    }

    /// Waits for the lock.
    ///
    /// - Returns: The ticket for ``release(_:)``.
    /// - Throws: ``TokenStoreError`` with code `busy` after `limit`; `CancellationError` when the task is cancelled
    ///   while it waits.
    package func take(waitingAtMost limit: Duration) async throws -> Ticket {
        let deadline = clock.uptime + limit
        let (ticket, isFree) = state.withLock { state in
            let ticket = state.issue()
            let isFree = state.holder == nil
            if isFree { state.holder = ticket }
            return (ticket, isFree)
        }
        if isFree { return ticket }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { turn in
                wait(for: ticket, until: deadline, turn)
            }
        } onCancel: {
            leave(ticket, throwing: CancellationError())
        }
        return ticket
    }

    /// Releases the lock. The next waiter gets it at once.
    package func release(_ ticket: Ticket) {
        let next: Waiter? = state.withLock { state in
            guard state.holder == ticket else { return nil }
            let next = state.waiting.isEmpty ? nil : state.waiting.removeFirst()
            state.holder = next?.ticket
            return next
        }
        next?.limit.cancel()
        next?.turn.resume()
    }

    /// Enqueues a waiter, unless the lock was released or the task was cancelled in the meantime.
    ///
    /// The timer is made and the cancellation is read under the lock that ``leave(_:throwing:)`` needs, so that both
    /// find the waiter.
    private func wait(for ticket: Ticket, until deadline: Duration, _ turn: CheckedContinuation<Void, any Error>) {
        enum Outcome { case waits, holds, isCancelled }
        let outcome: Outcome = state.withLock { state in
            if Task.isCancelled { return .isCancelled }
            if state.holder == nil {
                state.holder = ticket
                return .holds
            }
            let limit = Task {
                try await clock.sleep(until: deadline)
                leave(ticket, throwing: TokenStoreError.busy)
            }
            state.waiting.append(Waiter(ticket: ticket, turn: turn, limit: limit))
            return .waits
        }
        switch outcome {
        case .waits: break
        case .holds: turn.resume()
        case .isCancelled: turn.resume(throwing: CancellationError())
        }
    }

    /// Removes a waiter, unless it has got the lock.
    private func leave(_ ticket: Ticket, throwing error: any Error) {
        let waiter: Waiter? = state.withLock { state in
            guard let index = state.waiting.firstIndex(where: { $0.ticket == ticket }) else { return nil }
            return state.waiting.remove(at: index)
        }
        waiter?.limit.cancel()
        waiter?.turn.resume(throwing: error)
    }
}

extension TokenStoreError {
    /// Another holder kept the lease until the limit of the wait.
    static let busy = TokenStoreError(
        .busy,
        reason: "another holder did not release the store in time; try again later"
    )
}

/// A position in the queue of the processes that wait for a lease, in the order of their arrival.
///
/// The queue is an empty file. A waiter locks one byte of it, at the offset that is the time since the system started,
/// in nanoseconds: all processes of a host share that clock. The waiter is first when no byte before its own is locked.
/// The kernel unlocks the byte when the waiter dies.
///
/// The locks are those of an open file (`F_OFD_SETLK`), which exclude each other inside a process too. Without them in
/// the system or the file system, there is no queue, and the order is random.
final class LeaseTicket: Sendable {
    private let file: Int32
    private let position: Int64

    /// Joins the end of the queue. `nil` when there is no queue.
    ///
    /// - Parameters:
    ///   - folder: The folder of the lease.
    ///   - name: The file of the queue. It is made if it is missing.
    init?(in folder: borrowing PrivateFolder, _ name: String) {
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        file = openat(folder.descriptor.number, name, flags, folder.access.fileMode)
        guard file >= 0 else { return nil }
        if folder.access == .group { fchmod(file, folder.access.fileMode) }
        var position = Self.now
        while true {
            var lock = Self.lock(from: position, length: 1)
            if fcntl(file, Self.setLock, &lock) == 0 { break }
            guard errno == EAGAIN || errno == EACCES else {
                close(file)
                return nil
            }
            position += 1
        }
        self.position = position
    }

    deinit { close(file) }

    /// The position of the first waiter. `nil`: this one is first.
    var first: Int64? { Self.firstPosition(in: file, from: 0, to: position) }

    /// The number of waiters before this one, `limit` at most.
    func waitersAhead(atMost limit: Int) -> Int {
        var count = 0
        var start: Int64 = 0
        while count < limit, let next = Self.firstPosition(in: file, from: start, to: position) {
            count += 1
            start = next + 1
        }
        return count
    }

    /// Whether no process waits.
    static func isQueueEmpty(in folder: borrowing PrivateFolder, _ name: String) -> Bool {
        let file = openat(folder.descriptor.number, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return true }
        defer { close(file) }
        return firstPosition(in: file, from: 0, to: .max) == nil
    }

    private static func firstPosition(in file: Int32, from start: Int64, to end: Int64) -> Int64? {
        guard start < end else { return nil }
        var lock = lock(from: start, length: end - start)
        // The system reports any of the locks: each report narrows the search for the first one.
        var found: Int64?
        while fcntl(file, getLock, &lock) == 0, lock.l_type != Int16(F_UNLCK) {
            found = Int64(lock.l_start)
            guard let found, found > start else { break }
            lock = Self.lock(from: start, length: found - start)
        }
        return found
    }

    private static func lock(from start: Int64, length: Int64) -> flock {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = off_t(start)
        lock.l_len = off_t(length)
        return lock
    }

    /// The time since the system started, in nanoseconds.
    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    // `F_OFD_GETLK` and `F_OFD_SETLK`, which the C modules of Swift do not export.
    #if canImport(Darwin)
    private static let (setLock, getLock): (Int32, Int32) = (90, 92)
    #else
    private static let (setLock, getLock): (Int32, Int32) = (37, 36)
    #endif
}
