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
/// **When.** After each save, sign-out or ending of this process or another one, and when this process starts: what a
/// killed process has not published is published then. A publication is never part of a save. It may come later than
/// the save, and never before it. One that fails is made again after a pause, and fails nothing else.
///
/// **What.** The access token, its expiry and its session. At the end of the session a tombstone with the reason takes
/// the token's place. When the token expires it is removed while a process of the owner runs; the session's name stays,
/// so that a follower which starts then does not count as signed out.
///
/// A place that holds a refresh token is not written: it is a store of a session, and not one for followers.
public final class FollowedTokenStore: SharedTokenStore {
    /// The pause between two looks at a store that cannot report its changes.
    static let polling: Duration = .seconds(2)

    private let store: any SharedTokenStore
    let publisher: SessionPublisher
    private let watcher = Locked<Task<Void, Never>?>(nil)
    private let clock: any TimeSource

    /// Creates a store. It accesses neither the store nor the place before its first use.
    ///
    /// - Parameters:
    ///   - store: The owner's store, which holds the refresh token.
    ///   - place: Where followers read.
    ///   - clock: The clock that removes an expired token.
    ///   - onFailure: Is called on any thread with each failure of a publication. It must not block.
    public init(
        _ store: any SharedTokenStore,
        publishing place: any SharedTokenStore,
        clock: any TimeSource = SystemTimeSource(),
        onFailure: (@Sendable (TokenStoreError) -> Void)? = nil
    ) {
        self.store = store
        self.clock = clock
        publisher = SessionPublisher(from: store, to: place, clock: clock, onFailure: onFailure)
    }

    deinit {
        watcher.withLock { $0 }?.cancel()
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
        waitingAtMost limit: Duration,
        whileHeld report: @escaping @Sendable (LeaseHolder) -> Void
    ) async throws -> any TokenStoreLease {
        start()
        return try await store.lease(waitingAtMost: limit, whileHeld: report)
    }

    /// The changes of the owner's store.
    public var changes: AsyncStream<Void> {
        start()
        return store.changes
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

    /// Publishes what the store holds now, and from now on what other processes store.
    private func start() {
        watcher.withLock { watcher in
            guard watcher == nil else { return }
            watcher = Task.detached { [publisher, store, clock] in
                while !Task.isCancelled {
                    let changes = store.changes
                    publisher.publish()
                    for await _ in changes { publisher.publish() }
                    guard (try? await clock.sleep(until: clock.uptime + Self.polling)) != nil else { return }
                }
            }
            publisher.publish()
        }
    }
}

extension FollowedTokenStore: CustomStringConvertible {
    /// The two stores.
    public var description: String { "FollowedTokenStore(\(store), publishing: \(publisher.place))" }
}
