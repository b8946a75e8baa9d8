public import AuthInterface
public import ConcurrencyPrimitives

/// The owner's store of a session that others follow: it publishes the access token in a place of its own, which never
/// holds the refresh token (G29).
///
/// ```swift
/// let store = FollowedTokenStore(
///     FileTokenStore(application: "articles"),
///     publishing: FileTokenStore(folder: folder, access: .readableByGroup))
/// let session = TokenRefreshCoordinator(store: store, handler: handler)  // the owner, as before
/// let follower = SessionFollower(FileTokenStore(folder: folder, access: .readableByGroup))  // another process
/// ```
///
/// The place is any other shared store: a file in another folder, a Keychain item with a service of its own in the
/// access group of an extension, a table with another key. Each reader of it gets what that place grants, and no reader
/// gets the refresh token.
///
/// **When.** After each save, sign-out or ending of this process or another one, when this process starts, and when the
/// place changes: what a killed process has not published is published then, and an old file that was put back is
/// replaced. A publication is never part of a save. It may come later than the save, and never before it. One that
/// fails is made again after a pause, and fails nothing else.
///
/// **What.** The access token, its expiry and its session. At the end of the session a tombstone with the reason takes
/// the token's place, also where the owner's store cannot take it; an earlier session does not come back over it. When
/// the token expires it is removed while a process of the owner runs; the session's name stays, so that a follower
/// which starts then does not count as signed out.
///
/// A place that holds a refresh token is not written: it is a store of a session, and not one for followers.
public final class FollowedTokenStore: SharedTokenStore, SessionPublishing {
    /// The pause between two looks at a store that cannot report its changes, and at a place that reports many.
    static let polling: Duration = .seconds(2)

    private let store: any SharedTokenStore
    let publisher: SessionPublisher
    private let watchers = Locked<[Task<Void, Never>]>([])
    private let clock: any TimeSource

    /// Creates a store. It accesses neither the store nor the place before its first use.
    ///
    /// - Parameters:
    ///   - store: The owner's store, which holds the refresh token.
    ///   - place: Where followers read.
    ///   - clock: The clock that removes a token once its lifetime has passed since this process first saw it. A token
    ///     without a known lifetime is removed by its date.
    ///   - onFailure: Is called on any thread with each failure of a publication. It must not block.
    public init(
        _ store: any SharedTokenStore, publishing place: any SharedTokenStore,
        clock: any TimeSource = SystemTimeSource(), onFailure: (@Sendable (TokenStoreError) -> Void)? = nil
    ) {
        self.store = store
        self.clock = clock
        publisher = SessionPublisher(from: store, to: place, clock: clock, onFailure: onFailure)
    }

    deinit {
        for watcher in watchers.withLock({ $0 }) { watcher.cancel() }
        publisher.stop()
    }

    /// Reads the owner's session.
    ///
    /// - Throws: As the owner's store.
    public func read() async throws -> StoredSession {
        start()
        return try await store.read()
    }

    /// Reads what is stored, decides and writes, in the owner's store. The publication follows.
    ///
    /// - Throws: As the owner's store. A publication that fails throws nothing.
    public func update(_ change: @escaping StoreChange) async throws {
        start()
        try await store.update(change)
        publisher.publish()
    }

    /// Removes the owner's session, and then what is published of it.
    ///
    /// - Throws: As the owner's store.
    public func delete() async throws {
        start()
        try await store.delete()
        publisher.publish()
    }

    /// Takes the lease of the owner's store.
    ///
    /// - Throws: As the owner's store.
    public func lease(
        waitingAtMost limit: Duration, whileHeld report: @escaping @Sendable (LeaseHolder) -> Void
    ) async throws -> any TokenStoreLease {
        start()
        return try await store.lease(waitingAtMost: limit, whileHeld: report)
    }

    /// The changes of the owner's store.
    public var changes: AsyncStream<Void> {
        start()
        return store.changes
    }

    /// Publishes an end that the owner's store has not taken, until it holds what comes after it. It returns at once.
    public func publish(_ ending: SessionTombstone) {
        start()
        publisher.publish(ending)
    }

    /// Waits until what the owner's store holds is published. A program calls it before it exits.
    ///
    /// - Parameter limit: The longest wait. Default: 5 s.
    /// - Returns: Whether it is published. `false`: the limit passed first, or the publication has failed; the next
    ///   start of a process of the owner publishes it.
    @discardableResult
    public func settle(within limit: Duration = .seconds(5)) async -> Bool {
        start()
        return await publisher.settle(within: limit)
    }

    /// Publishes what the store holds now, from now on what other processes store, and it again where the place
    /// changes.
    private func start() {
        watchers.withLock { watchers in
            guard watchers.isEmpty else { return }
            watchers = [watch(store, pausing: .zero), watch(publisher.place, pausing: Self.polling)]
            publisher.publish()
        }
    }

    private func watch(_ watched: any SharedTokenStore, pausing pause: Duration) -> Task<Void, Never> {
        Task.detached { [publisher, clock] in
            while !Task.isCancelled {
                let changes = watched.changes
                publisher.publish()
                for await _ in changes {
                    publisher.publish()
                    try? await clock.sleep(until: clock.uptime + pause)
                }
                try? await clock.sleep(until: clock.uptime + Self.polling)
            }
        }
    }
}

extension FollowedTokenStore: CustomStringConvertible {
    /// The two stores.
    public var description: String { "FollowedTokenStore(\(store), publishing: \(publisher.place))" }
}
