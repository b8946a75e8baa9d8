import AuthInterface

/// The state behind the coordinator's lock: the machine, and the handles of the work that it has started.
struct CoordinatorCore {
    var machine: RefreshStateMachine
    var callers = ShellCallers()
    var calls: [AttemptID: (task: Task<Void, Never>, permit: StartPermit)] = [:]
    var leases: [AttemptID: HeldLease] = [:]
    var timers: [RefreshTimer: (number: Int, task: Task<Void, Never>)] = [:]
    /// Those of which the server may end other sessions of the user, too, are not narrow.
    var revocations: [Int: (task: Task<Void, Never>, isNarrow: Bool)] = [:]
    /// Opens the first stream of a shared store's changes.
    var opening: Task<AsyncStream<Void>, Never>?
    var watcher: Task<Void, Never>?
    var isWatched = true
    /// The pause for which the engine is kept, and the wait for its end.
    var pause: (end: Duration, wait: Task<Void, Never>)?
    /// Whether ``EnginesAtWork`` keeps the engine.
    var isKept = false

    var broadRevocations: [Task<Void, Never>] { revocations.values.filter { !$0.isNarrow }.map(\.task) }

    /// Notifies the machine of a lease that is lost, before the event that may make it call.
    mutating func reportLostLeases(_ now: Instant) -> [RefreshAction] {
        let lost = leases.filter(\.value.lease.isLost).map(\.key)
        guard !lost.isEmpty else { return [] }
        return withdrawCalls(now, because: "the lease of the shared store was lost")
            + lost.flatMap { machine.handle(.lease(.lost($0)), at: now) }
    }

    mutating func suspend(_ now: Instant) -> [RefreshAction] {
        withdrawCalls(now, because: "the process is about to be suspended") + machine.handle(.suspensionNear, at: now)
    }

    /// G28. A call of which no byte was written is not made any more: another process may call from here on.
    private mutating func withdrawCalls(_ now: Instant, because reason: String) -> [RefreshAction] {
        var actions: [RefreshAction] = []
        for (id, call) in calls {
            let found = call.permit.withdraw()
            if found == .notMade {
                let error = TokenRefreshError(.unavailable, reason: reason)
                actions += machine.handle(.callNotMade(id, error), at: now)
            }
            if found != .made { actions.append(.cancelCall(id)) }
        }
        return actions
    }

    /// The lease of the attempt under way. An older one was lost.
    var newestLease: (any TokenStoreLease)? {
        leases.max { $0.key.number < $1.key.number }?.value.lease
    }
}

/// A lease, and the activity that keeps the system from suspending the process while it is held.
struct HeldLease: Sendable {
    let lease: any TokenStoreLease
    let activity: ExpiringActivityToken
    let wait: Task<any TokenStoreLease, any Error>

    func release() async {
        await lease.release()
        activity.end()
    }
}
