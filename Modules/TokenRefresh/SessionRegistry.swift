import ConcurrencyPrimitives

/// Keeps one refresh engine for each account, for an app or a server with many accounts.
///
/// All callers get the same engine of an account as long as one of them holds it, or it has work under way: a refresh,
/// or tokens that are not stored yet. Two engines for one account would refresh its tokens twice. Above the limit the
/// least recently used idle engines are released; their sessions stay in the store, and are read again at the next use.
///
/// ```swift
/// let sessions = SessionRegistry<Account.ID> { id in
///     TokenRefreshCoordinator(store: store.store(for: id.rawValue), handler: handler)
/// }
/// let token = try await sessions[account.id].token()
/// ```
/// Accounts never wait for each other: the registry's lock is held for a look-up only (G18).
public final class SessionRegistry<Account: Hashable & Sendable>: Sendable {
    private struct Known { weak var session: TokenRefreshCoordinator? }

    /// An account. Texts are told apart by their bytes, as stores do: two that are equal may be the names of two users.
    private struct Key: Hashable {
        let account: Account

        /// An account that is a text, or has one as its raw value.
        private var text: String? { account as? String ?? (account as? any RawRepresentable)?.rawValue as? String }

        static func == (one: Key, other: Key) -> Bool {
            guard one.account == other.account else { return false }
            guard let text = one.text, let other = other.text else { return true }
            return text.utf8.elementsEqual(other.utf8)
        }

        func hash(into hasher: inout Hasher) { hasher.combine(account) }
    }

    private struct Entries {
        /// The engines that stay when no caller holds them, each with the number of its last use.
        var kept: [Key: (session: TokenRefreshCoordinator, lastUse: UInt64)] = [:]
        /// All engines: one that is at work, or that a caller holds, lives without the registry. Some have ended.
        var known: [Key: Known] = [:]
        var uses: UInt64 = 0
        /// The number of known engines from which on those that have ended are looked for.
        var forgetsFrom = 0
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
        entries = Locked(Entries())
    }

    /// The session of an account.
    ///
    /// - Complexity: O(1), amortized.
    public subscript(account: Account) -> TokenRefreshCoordinator {
        let (session, released) = entries.withLock { entries in
            let key = Key(account: account)
            let session = entries.kept[key]?.session ?? entries.known[key]?.session ?? make(account)
            if entries.kept[key] == nil { note(session, as: key, &entries) }
            entries.uses += 1
            entries.kept[key] = (session, entries.uses)
            return (session, releaseOldest(&entries))
        }
        // The engines end here, outside the lock.
        withExtendedLifetime(released) {}
        return session
    }

    /// Releases the engine of an account, such as one that was removed. Its session is not signed out.
    ///
    /// An engine with work under way ends after it.
    public func release(_ account: Account) {
        let released = entries.withLock { $0.kept.removeValue(forKey: Key(account: account)) }
        withExtendedLifetime(released) {}
    }

    /// The number of engines, including those that only callers or their work hold.
    public var count: Int {
        entries.withLock { entries in entries.known.values.count { $0.session != nil } }
    }

    /// The number of accounts of which the registry knows something.
    var knownCount: Int { entries.withLock { $0.known.count } }

    /// Waits until no session has work under way, before the program exits: 30 s in all by default. Returns whether all
    /// work has ended: `false` when the limit passed, or the task was cancelled, first.
    @discardableResult
    public func settle(within limit: Duration = .seconds(30)) async -> Bool {
        let sessions = entries.withLock { $0.known.values.compactMap(\.session) }
        return await withTaskGroup(of: Bool.self) { group in
            for session in sessions { group.addTask { await session.settle(within: limit) } }
            return await group.allSatisfy(\.self)
        }
    }

    /// Removes the engines above the limit. A quarter above it, so that only one look-up in many sorts.
    private func releaseOldest(_ entries: inout Entries) -> [TokenRefreshCoordinator] {
        guard entries.kept.count - limit > limit / 4 else { return [] }
        let byUse = entries.kept.sorted { $0.value.lastUse < $1.value.lastUse }
        return byUse.prefix(byUse.count - limit).compactMap { entries.kept.removeValue(forKey: $0.key)?.session }
    }

    /// A new account is an occasion to forget those whose engines have ended.
    private func note(_ session: TokenRefreshCoordinator, as key: Key, _ entries: inout Entries) {
        if entries.known[key] == nil, entries.known.count > max(entries.forgetsFrom, limit) {
            entries.known = entries.known.filter { $0.value.session != nil }
            entries.forgetsFrom = 2 * entries.known.count
        }
        entries.known[key] = Known(session: session)
    }
}
