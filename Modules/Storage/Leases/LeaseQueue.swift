import AuthInterface
package import ConcurrencyPrimitives

/// Hands one thing from holder to holder, in the order in which they asked for it.
///
/// Every holder has a ticket. A ticket can be given back once: a second time it is nobody's, so that a late `release`
/// cannot take the thing from whoever has it by then.
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

    /// Waits for the turn of the caller.
    ///
    /// - Throws: ``TokenStoreError`` with code `busy` after `limit`; `CancellationError` when the task is cancelled
    ///   before its turn comes. A turn that has come is not taken back: it ends with ``giveBack(_:)``.
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

    /// Ends a turn. The next in line has its turn at once.
    package func giveBack(_ ticket: Ticket) {
        let next: Waiter? = state.withLock { state in
            guard state.holder == ticket else { return nil }
            let next = state.waiting.isEmpty ? nil : state.waiting.removeFirst()
            state.holder = next?.ticket
            return next
        }
        next?.limit.cancel()
        next?.turn.resume()
    }

    /// Whether a ticket is the one whose turn it is.
    package func isHeld(by ticket: Ticket) -> Bool {
        state.withLock { $0.holder == ticket }
    }

    /// Stands in line, unless the turn has come or the task was cancelled in the meantime.
    ///
    /// The timer is made and the flag read under the lock that ``leave(_:throwing:)`` needs: neither can be too early
    /// to find the waiter it means.
    private func wait(for ticket: Ticket, until deadline: Duration, _ turn: CheckedContinuation<Void, any Error>) {
        enum Outcome { case waits, hasTurn, isCancelled }
        let outcome: Outcome = state.withLock { state in
            if Task.isCancelled { return .isCancelled }
            if state.holder == nil {
                state.holder = ticket
                return .hasTurn
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
        case .hasTurn: turn.resume()
        case .isCancelled: turn.resume(throwing: CancellationError())
        }
    }

    /// Takes a waiter out of the line. One whose turn has come is no longer in it.
    private func leave(_ ticket: Ticket, throwing error: any Error) {
        let waiter: Waiter? = state.withLock { state in
            guard let index = state.waiting.firstIndex(where: { $0.ticket == ticket }) else { return nil }
            return state.waiting.remove(at: index)
        }
        waiter?.limit.cancel()
        waiter?.turn.resume(throwing: error)
    }
}
