import AuthInterface
import ConcurrencyPrimitives
import Foundation

@testable import TokenRefresh

/// One process: its machine, and what its shell has under way. All names in it are the machine's own.
struct ExploredProcess: Hashable, Sendable {
    enum Condition: Hashable { case running, suspending, suspended, dead }

    /// A read or a write, and its result once the store has done it.
    struct StoreWork: Hashable {
        enum Kind: Hashable {
            case read(ReadPurpose)
            case write(version: Int, StoreContent)
        }

        enum Result: Hashable {
            case content(StoredSession, ownerMayCall: Bool)
            case outcome(WriteOutcome)
        }

        let kind: Kind
        var result: Result?
    }

    struct Caller: Hashable {
        enum Purpose: Hashable {
            case refresh, restore
            case replacement(SessionToken, SessionToken.Handout)
            case signIn(SessionID)
            case signOut(SessionID)
        }

        let purpose: Purpose
    }

    var machine: RefreshStateMachine
    var incarnation: Int
    var condition = Condition.running
    var timers: [RefreshTimer: Duration] = [:]
    var work: [StoreWork] = []
    var leasing: [AttemptID] = []
    /// A lease that was cut, which the process has not noticed.
    var lostLease: AttemptID?
    /// A lease that was cut, which the process has noticed and not released.
    var keptLease: AttemptID?
    /// The leases that the process has not released, as their store names them.
    var leases: [AttemptID: String] = [:]
    /// The claims that had been released when the process was given the newest one.
    var released: Set<String> = []
    var callers: [WaiterID: Caller] = [:]
    /// The token of a request that is under way.
    var request: SessionToken?
    /// When a caller that has failed retries.
    var retryAt: Duration?
    /// The sessions that were ended here.
    var left: Set<SessionID> = []
    /// The sessions that the process has been in.
    var known: Set<SessionID> = []

    static let policy: TokenRefreshPolicy = {
        var policy = TokenRefreshPolicy()
        // Pauses without jitter, and no cool-down for one endpoint: neither is part of the protocol.
        policy.backoff = Backoff(base: .seconds(1), limit: .seconds(1), floor: .seconds(1))
        policy.freshness = .zero
        // A process that slept reads its responses in any order.
        policy.wakeGrace = .zero
        return policy
    }()

    init(incarnation: Int, honoursKeys: Bool) {
        self.incarnation = incarnation
        let settings = MachineSettings(
            policy: Self.policy,
            isShared: true,
            owner: Perspective.owner(incarnation: incarnation),
            tolerance: honoursKeys ? .sameKey : .none
        )
        machine = RefreshStateMachine(settings: settings, random: .seeded(SplitMix64(seed: UInt64(incarnation))))
    }

    var isAwake: Bool { condition == .running || condition == .suspending }

    /// The name of the next caller: the smallest that is free, so that names do not make states differ.
    var nextCaller: WaiterID {
        var number = 1
        while callers[WaiterID(number: number)] != nil { number += 1 }
        return WaiterID(number: number)
    }

    /// The name of the newest lease.
    var lease: String? { leases.max { $0.key.number < $1.key.number }?.value }

    /// Rule 8: whether the owner of an intent may still be calling, as far as the newest lease shows it.
    func mayStillCall(_ intent: RefreshIntent, hasClaims: Bool) -> Bool {
        guard let lease else { return false }
        guard let other = intent.lease else { return true }
        return other != lease && (!hasClaims || !released.contains(other))
    }

    var hasRefreshCaller: Bool { callers.values.contains { $0.purpose == .refresh } }
}

/// A process that does not change any more, shared by all worlds in which it is in this state.
final class ProcessSnapshot: Sendable {
    let process: ExploredProcess
    let fingerprint: Int

    init(_ process: ExploredProcess) {
        self.process = process
        var hasher = Hasher()
        hasher.combine(process)
        // Equality of tokens ignores how they were handed out.
        hasher.combine(process.request?.handout)
        fingerprint = hasher.finalize()
    }
}
