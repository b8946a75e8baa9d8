public import AuthInterface
public import ConcurrencyPrimitives

public import struct Foundation.Date

/// A view of a session that another process or device owns: it has the access token and never the refresh token (G29).
///
/// For a widget, a watch, a gateway, a container. The owner refreshes; the follower notices each new token and the end
/// of the session, with its reason. It has no handler, so it can spend nothing, and it never ends a session by itself.
///
/// ```swift
/// let follower = SessionFollower(store)                  // reads what the owner stores
/// let network = client.authenticated(by: follower)
/// ```
///
/// Where no store is shared, the application hands in what the owner sends (`TokenBundle.withoutRefreshToken`), in any
/// order:
///
/// ```swift
/// let follower = SessionFollower()
/// follower.follow(bundle)
/// ```
///
/// What a source holds now counts. Of what is handed in the later sign-in counts, by its ordinal, and of one session
/// the higher generation. While the token has expired or was refused, requests wait for the owner's next bundle, at
/// most for ``FollowerPolicy/bundleWait``, and then fail with code `refreshUnavailable`; the state stays as it is.
///
/// A follower cannot send the refresh token in a field (`TokenPlacement.fields`): such a request fails with code
/// `followerHasNoRefreshToken`.
public final class SessionFollower: TokenProvider {
    let source: (any SessionSource)?
    let policy: FollowerPolicy
    let clock: any TimeSource
    let bundleNeeded: (@Sendable () -> Void)?
    let core: Locked<FollowerCore>

    /// Creates a follower. It does not access the source before its first use.
    ///
    /// - Parameters:
    ///   - source: Where the owner's tokens are read: best one that does not hold the refresh token. A refresh token
    ///     that is read is dropped at once. `nil`: the application hands them in with ``follow(_:)-(TokenBundle)``.
    ///   - policy: The times and limits.
    ///   - clock: The clocks.
    ///   - bundleNeeded: Is called on any thread when a request starts to wait for a newer bundle and none has waited
    ///     before it, so that the application can ask the owner for one. It must not block.
    public init(
        _ source: (any SessionSource)? = nil,
        policy: FollowerPolicy = FollowerPolicy(),
        clock: any TimeSource = SystemTimeSource(),
        bundleNeeded: (@Sendable () -> Void)? = nil
    ) {
        self.source = source
        self.policy = policy
        self.clock = clock
        self.bundleNeeded = bundleNeeded
        core = Locked(FollowerCore(machine: FollowerMachine(policy: policy, hasSource: source != nil)))
    }

    deinit {
        let tasks = core.withLock { Array($0.timers.values) + [$0.watcher].compactMap(\.self) }
        for task in tasks { task.cancel() }
    }

    // MARK: What the owner sends

    /// Follows a bundle of the owner, if it comes after what was seen. Its refresh token is dropped.
    public func follow(_ bundle: TokenBundle) { follow(.active(bundle)) }

    /// Follows what the owner has stored: the tokens of a session, or its end with the reason.
    ///
    /// The content may arrive late, twice or in another order. An end is that of its session and of every earlier one.
    /// `.empty` ends no session.
    ///
    /// - Parameter content: What the owner has stored. A refresh token is dropped.
    public func follow(_ content: StoredSession) { send(.given(content.withoutRefreshToken)) }

    // MARK: TokenProvider

    /// The owner's newest token.
    ///
    /// - Returns: A token that is not known to be expired. One that has expired by this device's clock as it comes is
    ///   returned once, unless a response has told the server's time.
    /// - Throws: `AuthenticationError`: `notSignedIn` when the owner's session has ended; `refreshUnavailable` when the
    ///   token has expired and no newer one came within ``FollowerPolicy/bundleWait``; `storeUnavailable` when the
    ///   source cannot be read now. `CancellationError` at once when the task is cancelled.
    /// - Complexity: With a valid token O(1): one lock, no suspension, no allocation.
    public func token() async throws -> SessionToken {
        if let token = validToken { return token }
        return try await response(to: .token).token
    }

    /// The owner's newest token, if it is valid.
    ///
    /// - Complexity: O(1): one lock, no allocation.
    public var validToken: SessionToken? {
        let uptime = clock.uptime
        return core.withLock { $0.machine.readyToken(at: uptime) }
    }

    /// A newer token of the owner, in place of one that the server has refused. A refusal ends no session.
    ///
    /// - Throws: As ``token()``; `sessionEnded` when the session of the refused token is not the owner's any more.
    public func replacement(after refusal: TokenRefusal) async throws -> SessionToken {
        try await response(to: .replacement(refusal)).token
    }

    /// See `TokenProvider.noteServerDate(_:)`.
    public func noteServerDate(_ date: Date) {
        if core.withLock({ $0.callers.isNew(date) }) { send(.serverDateNoted(date)) }
    }

    // MARK: The state

    /// The owner's session as it was seen last. It does not wait for the source.
    public var state: SessionState { core.withLock { $0.machine.published } }

    /// The states from now on, the current one first. A stream keeps the follower, and ends only with its reader.
    public var states: AsyncStream<SessionState> {
        watchSource()
        return core.withLock { $0.callers.readers.stream(startingWith: $0.machine.published, keeping: self) }
    }

    /// Waits until the state is known: the source has been read, or the first bundle was handed in.
    ///
    /// - Throws: `AuthenticationError` with code `storeUnavailable` when the source cannot be read now, or
    ///   `refreshUnavailable` when nothing came within ``FollowerPolicy/bundleWait``. `CancellationError`.
    @discardableResult
    public func restore() async throws -> SessionState {
        try await response(to: .restore).state
    }
}
