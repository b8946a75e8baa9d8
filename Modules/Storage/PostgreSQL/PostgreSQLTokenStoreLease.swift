#if PostgreSQL
import AuthInterface

/// A ``PostgreSQLTokenStore`` in the hands of one holder.
///
/// Whether it is still in its hands is the server's to say, with every call.
final class PostgreSQLTokenStoreLease: TokenStoreLease {
    private let account: PostgreSQLAccount
    private let queue: LeaseQueue
    private let ticket: LeaseQueue.Ticket
    private let grip: Locked<LeaseGrip?>

    init(account: PostgreSQLAccount, grip: LeaseGrip, queue: LeaseQueue, ticket: LeaseQueue.Ticket) {
        self.account = account
        self.grip = Locked(grip)
        self.queue = queue
        self.ticket = ticket
    }

    deinit {
        guard let grip = grip.withLock({ $0 }) else { return }
        Task { [queue, ticket] in
            await grip.letGo()
            queue.giveBack(ticket)
        }
    }

    func load() async throws -> TokenBundle? {
        try await account.load(under: try fence)
    }

    func save(_ bundle: TokenBundle) async throws {
        try await account.save(bundle, under: try fence)
    }

    func delete() async throws {
        try await account.delete(under: try fence)
    }

    func mayStillCall(_ owner: ProcessIdentity) -> Bool { owner.host != ProcessIdentity.current.host }

    func release() async {
        let held = grip.withLock { grip in
            defer { grip = nil }
            return grip
        }
        await held?.letGo()
        queue.giveBack(ticket)
    }

    private var fence: LeaseFence {
        get throws {
            guard let fence = grip.withLock({ $0?.fence }) else { throw TokenStoreError.released }
            return fence
        }
    }
}
#endif
