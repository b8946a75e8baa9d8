#if PostgreSQL
import AuthInterface
import Storage

/// The lease of a ``PostgreSQLTokenStore``: a claim, and the task that renews it.
final class PostgreSQLTokenStoreLease: TokenStoreLease {
    private let claim: Claim
    private let renewal: Task<Void, Never>
    private let queue: LeaseQueue
    private let ticket: LeaseQueue.Ticket

    init(claim: Claim, queue: LeaseQueue, ticket: LeaseQueue.Ticket) {
        self.claim = claim
        self.queue = queue
        self.ticket = ticket
        renewal = Task { await claim.keepRenewing() }
    }

    deinit {
        renewal.cancel()
        Task { [claim, queue, ticket] in
            await claim.release()
            queue.release(ticket)
        }
    }

    /// The number of the claim. It grows with each claim of an account.
    var fence: Int64 { claim.fence }

    var isLost: Bool { claim.isLost }

    var identity: String? { "\(claim.fence)" }

    func mayStillCall(_ intent: RefreshIntent) -> Bool { claim.mayStillCall(intent) }

    func release() async {
        renewal.cancel()
        await claim.release()
        queue.release(ticket)
    }
}
#endif
