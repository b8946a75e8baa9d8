public import ConcurrencyPrimitives

/// The right to start a call that spends a refresh token, which ends at an instant and can be withdrawn (G28).
///
/// Between the record of a refresh and its first byte, the process can be stopped: an app is frozen, a laptop sleeps.
/// When it continues, another process may have refreshed, and the call would spend a token that is no longer valid. So
/// what writes the call asks for the right directly before the first byte:
///
/// ```swift
/// permit.adopt()                                  // before it connects
/// …
/// guard permit.start() else { throw … }           // connected: before the head, and again before the body
/// ```
///
/// A call whose permit was adopted and never started counts as *not made*: no byte of it was written, and none will be.
/// One permit is for one call. The endpoints of `NetworkCore` pass it to their transport: `allowingLateResponse(to:)`.
public final class StartPermit: Sendable {
    private struct State {
        /// Whether what writes the call asks for the right, or nothing can have written yet.
        var isAdopted = true
        var isStarted = false
        var isWithdrawn = false
        var isUnsent: (@Sendable () -> Bool)?
    }

    /// The instant after which no byte of the call may be written, on the uptime of its clock.
    public let deadline: Duration
    private let clock: any TimeSource
    private let state = Locked(State())

    /// Creates a permit, after whose deadline no byte of the call may be written. The clock counts while the device
    /// sleeps.
    public init(until deadline: Duration, on clock: any TimeSource = SystemTimeSource()) {
        (self.deadline, self.clock) = (deadline, clock)
    }

    /// The time left to start the call. Not positive: none.
    package var timeLeft: Duration { deadline - clock.uptime }

    /// Says that ``start(isUnsent:)`` is called before a byte of the call is written. Called before the first wait.
    public func adopt() { state.withLock { $0.isAdopted = true } }

    /// Takes the right to write the next part of the call: its head, then its body.
    ///
    /// - Parameter isUnsent: Where a library below starts by itself after this: whether, as far as it shows, it has not
    ///   sent a byte. A call that is withdrawn then is cancelled.
    /// - Returns: Whether the part may be written, now. If not, nothing more of the call may be.
    public func start(isUnsent: (@Sendable () -> Bool)? = nil) -> Bool {
        use { ($0.isStarted, $0.isUnsent) = (true, isUnsent) }
    }

    /// Passes the right on to what may not ask for it. Returns whether the call may be made. If not, it was not.
    package func handOver() -> Bool { use { $0.isAdopted = false } }

    /// Changes the state unless the right has ended or was withdrawn.
    private func use(_ change: (inout State) -> Void) -> Bool {
        let isInTime = timeLeft > .zero
        return state.withLock { state in
            guard isInTime, !state.isWithdrawn else { return false }
            change(&state)
            return true
        }
    }

    /// Says that the call has ended and has spent nothing, and that it is about to be made once more: a server has
    /// asked for a nonce (G34). Until the next ``handOver()`` or ``start(isUnsent:)`` no byte of it is written. Returns
    /// whether it may be made again. If not, the first call stays the last one.
    package func startOver() -> Bool { use { ($0.isAdopted, $0.isStarted, $0.isUnsent) = (true, false, nil) } }

    /// What a withdrawal has found.
    package enum Withdrawal: Sendable {
        /// No byte was written, and none will be.
        case notMade
        /// A byte may have been written, though nothing shows one: the call is to be cancelled.
        case unsent
        /// The call is, or may be, under way.
        case made
    }

    /// Withdraws the right, for good.
    package func withdraw() -> Withdrawal {
        let (found, isUnsent) = state.withLock { state in
            defer { (state.isWithdrawn, state.isUnsent) = (true, nil) }
            let found = !state.isStarted && state.isAdopted ? Withdrawal.notMade : .made
            return (found, state.isUnsent)
        }
        // Outside the lock: it is the library's code.
        return isUnsent?() == true ? .unsent : found
    }
}
