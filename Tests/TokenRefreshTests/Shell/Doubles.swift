import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import TestSupport
import TokenRefresh

/// A store that no other process shares, over one that could be.
final class OwnTokenStore: TokenStore {
    let base: any TokenStore

    init(base: any TokenStore) { self.base = base }

    func load() async throws -> TokenBundle? { try await base.load() }
    func save(_ bundle: TokenBundle) async throws { try await base.save(bundle) }
    func delete() async throws { try await base.delete() }
}

/// A shared store that does what another one does, except for what a test's own type does.
protocol ForwardingStore: SharedTokenStore {
    associatedtype Base: SharedTokenStore
    var base: Base { get }
}

extension ForwardingStore {
    var changes: AsyncStream<Void> { base.changes }

    func read() async throws -> StoredSession { try await base.read() }

    func update(_ change: @escaping StoreChange) async throws { try await base.update(change) }

    func lease(
        waitingAtMost limit: Duration,
        whileHeld report: @escaping @Sendable (LeaseHolder) -> Void
    ) async throws -> any TokenStoreLease {
        try await base.lease(waitingAtMost: limit, whileHeld: report)
    }
}

/// A shared store that always gives the same lease.
struct OneLeaseStore: ForwardingStore {
    let base: FaultyTokenStore<RecordingTokenStore>
    let held: KeptLease

    func lease(
        waitingAtMost limit: Duration,
        whileHeld report: @escaping @Sendable (LeaseHolder) -> Void
    ) async throws -> any TokenStoreLease { held }
}

/// A lease that its store keeps, so that only a release ends it, and that has a fixed `mayStillCall`.
final class KeptLease: TokenStoreLease {
    let identity: String?
    /// Each release arrives here.
    let released = Gate(isOpen: true)
    let lost = Locked(false)
    private let ownersMayCall: Bool

    init(_ identity: String = "kept", ownersMayCall: Bool = false) {
        self.identity = identity
        self.ownersMayCall = ownersMayCall
    }

    var isLost: Bool { lost.withLock { $0 } }

    func mayStillCall(_ intent: RefreshIntent) -> Bool { ownersMayCall }

    func release() async { await released.pass() }
}

/// The handler of a client for itself, without a refresh token.
struct ClientHandler: TokenRefreshHandler {
    let script: ScriptedRefreshHandler
    var needsRefreshToken: Bool { false }

    func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
        try await script.refresh(request)
    }
}

extension ScriptedRefreshHandler.Response {
    /// The next token of a client: `access-job1-0`, then `access-job2-0`.
    static let client = custom { _, server in
        var tokens = server.signIn("job")
        tokens.refreshToken = nil
        return tokens
    }
}

/// Starts a request for a token. `isDone`: it has ended without a suspension of its caller.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
func askAtOnce(_ provider: some TokenProvider) -> (isDone: Bool, request: Task<Void, any Error>) {
    let isDone = Locked(false)
    let request = Task.immediate {
        _ = try await provider.token()
        isDone.withLock { $0 = true }
    }
    return (isDone.withLock { $0 }, request)
}

/// Activities that a test lets expire.
final class ManualActivity: ExpiringActivity {
    private struct State {
        var begun: [Int: @Sendable () -> Void] = [:]
        var count = 0
        var expiresAtOnce = false
    }

    private let state = Locked(State())

    var running: Int { state.withLock { $0.begun.count } }

    func begin(_ reason: String, onExpiry: @escaping @Sendable () -> Void) -> ExpiringActivityToken {
        let (number, isExpired) = state.withLock { state in
            state.count += 1
            state.begun[state.count] = onExpiry
            return (state.count, state.expiresAtOnce)
        }
        if isExpired { onExpiry() }
        return ExpiringActivityToken { [self] in state.withLock { $0.begun[number] = nil } }
    }

    /// Lets later ones expire as they begin.
    func expireAtOnce() { state.withLock { $0.expiresAtOnce = true } }

    /// Lets all expire that have not ended.
    func expire() {
        for (_, onExpiry) in state.withLock({ $0.begun.sorted { $0.key < $1.key } }) { onExpiry() }
    }
}

/// A revocation that works, or does what a test says, and records its calls.
final class RecordingRevocation: TokenRevocationHandler {
    private let told = Locked<[TokenBundle]>([])
    private let isNarrow = Locked(true)
    private let script = Locked<@Sendable () async throws -> Void>({})
    private let cancelled = Gate(isOpen: true)

    /// What was revoked, by its access token: `ada1 g1`.
    var revoked: [String] { told.withLock { $0.map(\.token.name) } }

    var affectsRevokedSessionOnly: Bool { isNarrow.withLock { $0 } }

    /// From now on a call may affect every session of the user.
    func affectsAll() { isNarrow.withLock { $0 = false } }

    var isCancelled: Bool { cancelled.arrivals > 0 }

    /// Waits until that many calls have been cancelled. Calls must be held.
    func cancellations(atLeast count: Int) async throws { try await cancelled.arrivals(atLeast: count) }

    func onCall(_ body: @escaping @Sendable () async throws -> Void) { script.withLock { $0 = body } }

    /// From now on calls wait at a gate, and ignore their cancellation.
    func hold() -> Gate {
        let gate = Gate()
        onCall { await gate.pass() }
        return gate
    }

    func revoke(_ tokens: TokenBundle) async throws {
        told.withLock { $0.append(tokens) }
        let call = script.withLock { $0 }
        try await withTaskCancellationHandler {
            try await call()
        } onCancel: { [cancelled] in
            Task { await cancelled.pass() }
        }
    }
}

/// The names of the events that an engine reported.
typealias EventLog = Recorder<String>

extension Recorder where Value == String {
    func count(_ name: String) -> Int { values.count { $0 == name } }

    func first(_ name: String) async throws { try await until { count(name) > 0 } }
}

extension SessionEvent {
    var name: String { Mirror(reflecting: self).children.first?.label ?? "\(self)" }
}
