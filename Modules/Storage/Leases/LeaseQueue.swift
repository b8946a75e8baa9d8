package import AuthInterface
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
        var heldSince: Date?
        var waiting: [Waiter] = []

        mutating func issue() -> Ticket {
            issued += 1
            return issued
        }

        mutating func pass(to ticket: Ticket?, at date: Date) {
            (holder, heldSince) = (ticket, date)
        }
    }

    private let state = Locked(State())
    private let clock: any TimeSource

    package init(clock: any TimeSource) {
        self.clock = clock
    }

    /// This process, and since when one of its holders has the lock.
    private var current: LeaseHolder {
        LeaseHolder(process: .current, since: state.withLock { $0.heldSince })
    }

    /// Waits for the lock.
    ///
    /// - Parameters:
    ///   - limit: How long to wait at most.
    ///   - report: Is called with the holder at the start of a wait.
    /// - Returns: The ticket for ``release(_:)``.
    /// - Throws: ``TokenStoreError`` with code `busy` after `limit`; `CancellationError` when the task is cancelled
    ///   while it waits.
    package func take(
        waitingAtMost limit: Duration,
        whileHeld report: (LeaseHolder) -> Void = { _ in }
    ) async throws -> Ticket {
        let (deadline, date) = (clock.uptime + limit, clock.date)
        let (ticket, isFree) = state.withLock { state in
            let ticket = state.issue()
            let isFree = state.holder == nil
            if isFree { state.pass(to: ticket, at: date) }
            return (ticket, isFree)
        }
        if isFree { return ticket }
        report(current)
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
        let date = clock.date
        let next: Waiter? = state.withLock { state in
            guard state.holder == ticket else { return nil }
            let next = state.waiting.isEmpty ? nil : state.waiting.removeFirst()
            state.pass(to: next?.ticket, at: date)
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
        let date = clock.date
        let outcome: Outcome = state.withLock { state in
            if Task.isCancelled { return .isCancelled }
            if state.holder == nil {
                state.pass(to: ticket, at: date)
                return .holds
            }
            let limit = Task {
                try await clock.sleep(until: deadline)
                leave(ticket, throwing: TokenStoreError.busy(current))
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
    static func busy(_ holder: LeaseHolder?) -> TokenStoreError {
        let holder = holder.map { " (\($0))" } ?? ""
        return TokenStoreError(
            .busy,
            reason: "another holder\(holder) did not release the store in time; if it is stopped, continue it or end "
                + "it; otherwise try again later"
        )
    }
}
