package import AuthInterface
package import ConcurrencyPrimitives
import Foundation

/// An exclusive lock inside a process, whose waiters get it in the order of their requests.
///
/// Each holder has a ticket, which releases the lock once: a second release does not affect the next holder.
package final class LeaseQueue: Sendable {
    package typealias Ticket = UInt64

    private struct State {
        var issued: Ticket = 0
        var holder: Ticket?
        var heldSince: Date?
        var waiting = WaitQueue<Ticket, Turn<Void>>()

        mutating func pass(to ticket: Ticket?, at date: Date) { (holder, heldSince) = (ticket, date) }
    }

    private let state = Locked(State())
    private let clock: any TimeSource

    package init(clock: any TimeSource) { self.clock = clock }

    /// This process, and since when one of its holders has the lock.
    private var current: LeaseHolder { LeaseHolder(process: .current, since: state.withLock { $0.heldSince }) }

    /// Waits for the lock, and returns the ticket for ``release(_:)``. The holder is reported at the start of a wait.
    ///
    /// - Throws: ``TokenStoreError`` with code `busy` after `limit`; `CancellationError` when the task is cancelled
    ///   while it waits.
    package func take(
        waitingAtMost limit: Duration, whileHeld report: (LeaseHolder) -> Void = { _ in }
    ) async throws -> Ticket {
        let (deadline, date) = (clock.uptime + limit, clock.date)
        let (ticket, isFree) = state.withLock { state in
            state.issued += 1
            let ticket = state.issued
            let isFree = state.holder == nil
            if isFree { state.pass(to: ticket, at: date) }
            return (ticket, isFree)
        }
        if isFree { return ticket }
        report(current)
        try await state.wait(as: ticket, in: \.waiting, until: deadline, on: clock) {
            TokenStoreError.busy(self.current)
        } unless: { state in
            guard state.holder == nil else { return nil }
            state.pass(to: ticket, at: date)
            return ()
        }
        return ticket
    }

    /// Releases the lock. The next waiter gets it at once.
    package func release(_ ticket: Ticket) {
        let date = clock.date
        let next = state.withLock { state -> Turn<Void>? in
            guard state.holder == ticket else { return nil }
            let next = state.waiting.popFirst()
            state.pass(to: next?.id, at: date)
            return next?.waiter
        }
        next?.end(.success(()))
    }
}

extension TokenStoreError {
    /// Another holder kept the lease until the limit of the wait.
    static func busy(_ holder: LeaseHolder?) -> TokenStoreError {
        let holder = holder.map { " (\($0))" } ?? ""
        return TokenStoreError(
            .busy,
            reason: "another holder\(holder) did not release the store in time; if it is stopped, continue it or end "
                + "it; otherwise try again later")
    }
}
