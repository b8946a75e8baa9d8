import AuthInterface
import ConcurrencyPrimitives

/// Keeps one refresh engine for each account, for an app or a server with many accounts.
///
/// All callers get the same engine of an account as long as one of them, or a refresh under way, holds it: two engines
/// for one account would refresh its tokens twice. Above the limit the least recently used engines are released; their
/// sessions stay in the store, and are read again at the next use. An engine that refreshes, or whose tokens are not
/// stored yet, is kept above the limit until both are done.
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
        /// A strong reference, until the engine is released.
        var kept: TokenRefreshCoordinator?
        var lastUse: UInt64
    }

    private struct Entries {
        var byAccount: [Account: Entry] = [:]
        var kept = 0
        var uses: UInt64 = 0
        /// The accounts whose engines were busy when they were to be released.
        var releasing: Set<Account> = []
        /// The number of engines above which the next ones are released.
        var bound: Int
    }

    /// The maximum number of idle engines that stay in memory when no caller holds them.
    public let limit: Int

    private let make: @Sendable (Account) -> TokenRefreshCoordinator
    private let entries: Locked<Entries>

    /// Creates a registry without sessions.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of idle engines that stay in memory when no caller holds them. At least 1.
    ///   - make: Creates the engine of an account. It is called while a lock is held, so it must only create the engine
    ///     and return.
    public init(limit: Int = 1_000, make: @escaping @Sendable (Account) -> TokenRefreshCoordinator) {
        let limit = max(limit, 1)
        self.limit = limit
        self.make = make
        entries = Locked(Entries(bound: limit + limit / 4))
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
            entries.releasing.remove(account)
            var released = releaseIdle(&entries)
            // A quarter above the limit, so that only one look-up in many sorts.
            if entries.kept > entries.bound { released += release(&entries) }
            return (session, released)
        }
        // The engines end here, outside the lock.
        withExtendedLifetime(released) {}
        return session
    }

    /// Releases the engine of an account, such as one that was removed. Its session is not signed out.
    ///
    /// An engine that refreshes, or whose tokens are not stored yet, is released at a later use of the registry.
    ///
    /// - Parameter account: The account.
    public func release(_ account: Account) {
        let released = entries.withLock { entries in
            entries.releasing.insert(account)
            return releaseIdle(&entries)
        }
        withExtendedLifetime(released) {}
    }

    /// The number of engines, including those that only callers hold.
    public var count: Int {
        entries.withLock { entries in entries.byAccount.values.count { $0.session != nil } }
    }

    /// Waits until no session has work under way, before the program exits.
    ///
    /// - Parameter limit: The longest wait, in all. Default: 30 s.
    /// - Returns: Whether all work has ended. `false` when the limit passed, or the task was cancelled, first.
    @discardableResult
    public func settle(within limit: Duration = .seconds(30)) async -> Bool {
        let sessions = entries.withLock { $0.byAccount.values.compactMap(\.session) }
        return await withTaskGroup(of: Bool.self) { group in
            for session in sessions { group.addTask { await session.settle(within: limit) } }
            return await group.reduce(true) { $0 && $1 }
        }
    }

    /// Removes the idle engines above the limit, and the entries of engines that were deallocated.
    private func release(_ entries: inout Entries) -> [TokenRefreshCoordinator] {
        var released: [TokenRefreshCoordinator] = []
        let oldest = entries.byAccount.filter { $0.value.kept != nil }.sorted { $0.value.lastUse < $1.value.lastUse }
        for (account, entry) in oldest where oldest.count - released.count > limit {
            guard let session = entry.kept, session.isIdle else { continue }
            released.append(session)
            entries.byAccount[account]?.kept = nil
        }
        entries.kept = oldest.count - released.count
        entries.bound = max(entries.kept, limit) + limit / 4
        entries.byAccount = entries.byAccount.filter { $0.value.session != nil }
        return released
    }

    /// Removes the engines that were to be released, and are idle by now.
    private func releaseIdle(_ entries: inout Entries) -> [TokenRefreshCoordinator] {
        var released: [TokenRefreshCoordinator] = []
        for account in entries.releasing {
            let session = entries.byAccount[account]?.kept
            if let session, !session.isIdle { continue }
            entries.releasing.remove(account)
            guard let session else { continue }
            released.append(session)
            entries.kept -= 1
            entries.byAccount[account]?.kept = nil
        }
        return released
    }
}
