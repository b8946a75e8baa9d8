import AuthInterface
import Foundation

@testable import TokenRefresh

/// Two processes, the store they share and the server: everything that decides what can happen next.
struct ExploredWorld {
    /// A refresh on its way to the server or back.
    struct Call {
        enum Stage: Hashable {
            case sent
            case processed(RotatingServer.Response)
            /// The response is a failure with this status.
            case failed(status: Int)
        }

        /// The process that waits for the response. `nil`: none does.
        var slot: Int?
        let incarnation: Int
        let id: AttemptID
        let base: TokenBundle
        let number: Int
        /// The key, in the world's names.
        let key: String
        let startedAt: Duration
        var stage = Stage.sent
        var isCancelled = false
        /// The process could not keep the lease until the call ended: it was suspended, has abandoned the call, or has
        /// lost the lease.
        var isExcused = false
    }

    struct Lease: Hashable {
        let slot: Int
        let attempt: AttemptID
    }

    struct ExcusedCall: Hashable {
        let session: SessionID
        let number: Int
        let startedAt: Duration
    }

    struct RecordedIntent: Hashable {
        let refreshToken: String
        let key: String
    }

    let model: ExplorationModel
    var bounds: ExplorationBounds
    var now: Duration = .zero
    var processes: [ProcessSnapshot]
    var store: StoredSession
    var leases: [Lease] = []
    var calls: [Call] = []
    var server = RotatingServer()

    // What the laws need of the past.
    var causes: ReuseCause = []
    /// Refresh tokens that were in the store at some time.
    var everStored: Set<String> = []
    /// Intents that were in the store at some time.
    var recorded: Set<RecordedIntent> = []
    /// Calls whose process could not keep the lease until their result was stored.
    var excused: Set<ExcusedCall> = []
    /// Sessions whose end was in the store.
    var ended: Set<SessionID> = []
    /// Sessions that a user has ended, by signing out or by signing in again.
    var endedByUser: Set<SessionID> = []
    /// Owners whose lease was cut.
    var lapsed: Set<ProcessIdentity> = []
    var signIns = 0
    /// Until when a refresh token must not be spent, as the store says.
    var pauses: [String: Duration] = [:]
    /// The number of the lock file, or of the last claim.
    var leaseNumber = 0
    /// The claims that were released.
    var released: Set<String> = []

    var violation: (law: ProtocolLaw, text: String)?
    /// The decisions of the machines in the last step; `nil`: they are not collected.
    var decisions: [String]?

    static let start = Date(timeIntervalSince1970: 1_800_000_000)
    static let firstSession = SessionID(rawValue: "s0")

    /// Two processes that share a session.
    init(_ model: ExplorationModel, _ bounds: ExplorationBounds) {
        self.model = model
        self.bounds = bounds
        let process = ProcessSnapshot(ExploredProcess(incarnation: 0, honoursKeys: model.honoursKeys))
        processes = [process, process]
        server.honoursKeys = model.honoursKeys && model.flaw != .serverForgetsKeys
        server.open(Self.firstSession)
        let tokens = Self.tokens(0, of: Self.firstSession)
        let bundle = TokenBundle(
            accessToken: tokens.accessToken, refreshToken: tokens.refreshToken, session: Self.firstSession
        )
        store = .active(bundle)
        everStored = ["s0.r0"]
        for slot in 0...1 {
            send(slot, .requested(.restore, WaiterID(number: 1)), as: .init(purpose: .restore))
            take(.storeWorks(slot, work: 0))
            take(.storeResponds(slot, work: 0))
        }
    }

    var instant: Instant {
        Instant(uptime: now, date: Self.start + now / .seconds(1))
    }

    static func tokens(_ number: Int, of session: SessionID) -> TokenRefreshResult {
        TokenRefreshResult(
            accessToken: "\(session.rawValue).a\(number)", refreshToken: "\(session.rawValue).r\(number)")
    }

    func owner(_ slot: Int) -> ProcessIdentity {
        let process = processes[slot].process
        return Perspective(slot: slot).unview(owner: Perspective.owner(incarnation: process.incarnation))
    }

    func holdsLease(_ slot: Int) -> Bool { leases.contains { $0.slot == slot } }

    func hasCall(_ slot: Int) -> Bool { calls.contains { $0.slot == slot } }

    mutating func change(_ slot: Int, _ body: (inout ExploredProcess) -> Void) {
        var process = processes[slot].process
        body(&process)
        processes[slot] = ProcessSnapshot(process)
    }

    mutating func breaks(_ law: ProtocolLaw, _ text: String) {
        if violation == nil { violation = (law, text) }
    }

    // MARK: Telling states apart

    /// The same for a world and its mirror image, in which the two processes have changed places.
    ///
    /// A state is known by 64 bits. Among ten million states the chance that two share them is below one in 100,000.
    var fingerprint: Int { min(fingerprint(swapped: false), fingerprint(swapped: true)) }

    private func fingerprint(swapped: Bool) -> Int {
        var hasher = Hasher()
        hasher.combine(now)
        hasher.combine(bounds)
        hasher.combine(processes[swapped ? 1 : 0].fingerprint)
        hasher.combine(processes[swapped ? 0 : 1].fingerprint)
        store.feed(swapped: swapped, into: &hasher)
        server.feed(swapped: swapped, into: &hasher)
        var sum = 0
        for lease in leases {
            sum &+= hash {
                $0.combine(swapped ? 1 - lease.slot : lease.slot); $0.combine(lease.attempt)
            }
        }
        for call in calls { sum &+= hash { call.feed(swapped: swapped, into: &$0) } }
        for intent in recorded {
            sum &+= hash {
                $0.combine(intent.refreshToken)
                Perspective.feed(intent.key, swapped: swapped, into: &$0)
            }
        }
        for owner in lapsed { sum &+= hash { Perspective.feed(owner.process, swapped: swapped, into: &$0) } }
        hasher.combine(sum)
        hasher.combine(pauses)
        hasher.combine(leaseNumber)
        hasher.combine(released)
        hasher.combine(causes)
        hasher.combine(everStored)
        hasher.combine(excused)
        hasher.combine(ended)
        hasher.combine(endedByUser)
        return hasher.finalize()
    }

    private func hash(_ feed: (inout Hasher) -> Void) -> Int {
        var hasher = Hasher()
        feed(&hasher)
        return hasher.finalize()
    }
}

extension ExploredWorld.Call {
    fileprivate func feed(swapped: Bool, into hasher: inout Hasher) {
        hasher.combine(base.session)
        hasher.combine(number)
        hasher.combine(stage)
        Perspective.feed(key, swapped: swapped, into: &hasher)
        guard let slot else { return }
        hasher.combine(swapped ? 1 - slot : slot)
        hasher.combine(id)
        hasher.combine(base.generation)
        hasher.combine(startedAt)
        hasher.combine(isCancelled)
        hasher.combine(isExcused)
    }
}
