import AuthInterface
import ConcurrencyPrimitives

/// Keeps one refresh engine for each account, for an app or a server with many accounts.
///
/// All who ask for an account's session get the same engine for as long as any of them, or a refresh under way, holds
/// it: two engines for one account would refresh its tokens twice. The engines that were asked for least recently are
/// released when there are too many; their sessions are in the store, and are read again when they are next asked for.
///
/// ```swift
/// let sessions = SessionRegistry<Account.ID> { id in
///     TokenRefreshCoordinator(store: PostgreSQLTokenStore(database, account: id.rawValue), handler: handler)
/// }
/// let token = try await sessions[account.id].token()
/// ```
/// Accounts never wait for each other: the registry's lock is held for a look-up only (G18).
public final class SessionRegistry<Account: Hashable & Sendable>: Sendable {
    private struct Entry {
        weak var session: TokenRefreshCoordinator?
        /// The session itself, until it is released.
        var kept: TokenRefreshCoordinator?
        var lastUse: UInt64
    }

    private struct Entries {
        var byAccount: [Account: Entry] = [:]
        var kept = 0
        var uses: UInt64 = 0
    }

    /// The most engines that are kept when no caller holds them.
    public let limit: Int

    private let make: @Sendable (Account) -> TokenRefreshCoordinator
    private let entries = Locked(Entries())

    /// Creates a registry without sessions.
    ///
    /// - Parameters:
    ///   - limit: The most engines that are kept when no caller holds them. At least 1.
    ///   - make: Makes the engine of an account. It is called under a lock and must only put the engine together.
    public init(limit: Int = 1_000, make: @escaping @Sendable (Account) -> TokenRefreshCoordinator) {
        self.limit = max(limit, 1)
        self.make = make
    }

    /// The session of an account.
    ///
    /// - Parameter account: The account.
    /// - Complexity: O(1), amortized.
    public subscript(account: Account) -> TokenRefreshCoordinator {
        let (session, released) = entries.withLock { entries in
            entries.uses += 1
            let known = entries.byAccount[account]
            let session = known?.session ?? make(account)
            if known?.kept == nil { entries.kept += 1 }
            entries.byAccount[account] = Entry(session: session, kept: session, lastUse: entries.uses)
            // A quarter more than the limit, so that one look-up in many sorts.
            return (session, entries.kept > limit + limit / 4 ? release(&entries) : [])
        }
        // The engines end here, outside the lock.
        withExtendedLifetime(released) {}
        return session
    }

    /// Releases the session of an account that is no longer wanted, such as one that was removed. It is not signed out.
    ///
    /// - Parameter account: The account.
    public func release(_ account: Account) {
        let released = entries.withLock { entries in
            let kept = entries.byAccount[account]?.kept
            if kept != nil { entries.kept -= 1 }
            entries.byAccount[account]?.kept = nil
            return kept
        }
        withExtendedLifetime(released) {}
    }

    /// How many engines there are, those included that only their callers hold.
    public var count: Int {
        entries.withLock { entries in entries.byAccount.values.count { $0.session != nil } }
    }

    /// Waits until no session has work under way, before the program exits.
    ///
    /// - Parameter limit: How long to wait at most, in all.
    /// - Returns: Whether all work has ended. `false` when the limit passed, or the task was cancelled, first.
    @discardableResult
    public func settle(within limit: Duration = .seconds(30)) async -> Bool {
        let sessions = entries.withLock { $0.byAccount.values.compactMap(\.session) }
        return await withTaskGroup(of: Bool.self) { group in
            for session in sessions { group.addTask { await session.settle(within: limit) } }
            return await group.reduce(true) { $0 && $1 }
        }
    }

    /// Takes out the engines beyond the limit, and forgets those that are gone.
    private func release(_ entries: inout Entries) -> [TokenRefreshCoordinator] {
        var released: [TokenRefreshCoordinator] = []
        let oldest = entries.byAccount.filter { $0.value.kept != nil }.sorted { $0.value.lastUse < $1.value.lastUse }
        for (account, entry) in oldest.prefix(max(oldest.count - limit, 0)) {
            if let session = entry.kept { released.append(session) }
            entries.byAccount[account]?.kept = nil
        }
        entries.kept = min(oldest.count, limit)
        entries.byAccount = entries.byAccount.filter { $0.value.session != nil }
        return released
    }
}
