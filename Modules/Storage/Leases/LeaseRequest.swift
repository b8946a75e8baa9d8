import AuthInterface
import ConcurrencyPrimitives

/// A waiter for a file lease. It tries until it gets the lock.
///
/// A waiter takes the lease when it is first in the queue. Without that rule a holder that asks again at once gets it
/// each time, and a waiter that tries every few milliseconds never finds it free.
///
/// A waiter that is stopped keeps its position. So a waiter that finds the same one before it for
/// ``stalledWaiterLimit`` ignores the queue. It may overtake waiters that are not stopped, during a refresh that takes
/// that long: the order is lost then, not the exclusion.
final class LeaseRequest: Sendable {
    /// How long a waiter respects another one that is first and does not take the lease.
    static let stalledWaiterLimit: Duration = .seconds(1)

    private struct State {
        var ticket: LeaseTicket?
        var hasTicket = false
        var ahead = 0
        var first: Int64?
        var firstSince: Duration
    }

    private let state: Locked<State>
    private let clock: any TimeSource

    init(clock: any TimeSource = SystemTimeSource()) {
        self.clock = clock
        state = Locked(State(firstSince: clock.uptime))
    }

    /// Takes the lease if it is free and no other waiter is before this one. The file of the queue has `.queue`
    /// appended to the name.
    func attempt(in folder: borrowing PrivateFolder, _ name: String) throws(TokenStoreError) -> FolderLock? {
        guard mayTake(in: folder, name + ".queue"), let lock = try folder.tryLease(name) else {
            join(folder, name + ".queue")
            return nil
        }
        state.withLock { $0.ticket = nil }
        return lock
    }

    /// The longest pause before the next attempt: short for the first waiter, longer for those behind it, and longer
    /// for all when the holder keeps the lease for long.
    var longestPause: Duration {
        state.withLock { state in
            let isSlow = clock.uptime - state.firstSince > .milliseconds(250)
            return switch state.ahead {
            case 0: isSlow ? .milliseconds(20) : .milliseconds(3)
            case 1: isSlow ? .milliseconds(30) : .milliseconds(8)
            case 2: isSlow ? .milliseconds(50) : .milliseconds(15)
            default: .milliseconds(50)
            }
        }
    }

    private func mayTake(in folder: borrowing PrivateFolder, _ queue: String) -> Bool {
        guard state.withLock({ $0.hasTicket }) else { return LeaseTicket.isQueueEmpty(in: folder, queue) }
        return state.withLock { state in
            guard let ticket = state.ticket else { return true }
            let first = ticket.first
            if first != state.first {
                state.first = first
                state.firstSince = clock.uptime
            }
            state.ahead = first == nil ? 0 : ticket.waitersAhead(atMost: 3)
            return first == nil || clock.uptime - state.firstSince > Self.stalledWaiterLimit
        }
    }

    private func join(_ folder: borrowing PrivateFolder, _ queue: String) {
        guard state.withLock({ !$0.hasTicket }) else { return }
        let ticket = LeaseTicket(in: folder, queue)
        state.withLock { state in
            state.ticket = ticket
            state.hasTicket = true
            state.first = ticket?.first
            state.firstSince = clock.uptime
            state.ahead = ticket?.waitersAhead(atMost: 3) ?? 0
        }
    }
}
