import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import TestSupport

@testable import TokenRefresh

/// An engine in a world of doubles: a rotating server, a store that fails and hangs on demand, clocks moved by hand.
final class Bench: Sendable {
    typealias Request = Task<SessionToken, any Error>

    /// Whether the engine believes that other processes share its store.
    enum StoreKind: CaseIterable, Sendable {
        case own
        case shared

        func view(of store: some SharedTokenStore) -> any TokenStore {
            self == .shared ? store : OwnTokenStore(base: store)
        }
    }

    let server: RotatingTokenServer
    let handler: ScriptedRefreshHandler
    let store: FaultyTokenStore<RecordingTokenStore>
    let revocation = RecordingRevocation()
    let clock: ManualTimeSource
    let activity = ManualActivity()
    let events = EventLog()
    private let kept: Locked<TokenRefreshCoordinator?>

    /// The engine, which is not released yet.
    var engine: TokenRefreshCoordinator {
        guard let engine = kept.withLock({ $0 }) else { preconditionFailure("the engine was released") }
        return engine
    }

    convenience init(_ kind: StoreKind = .own, holding bundle: TokenBundle? = nil) {
        let clock = ManualTimeSource()
        self.init(
            kind, over: RecordingTokenStore(holding: bundle, clock: clock),
            RotatingTokenServer(lifetime: .seconds(86_400)), clock)
    }

    /// A process over the store of a device, of a user or of a client that signs no user in.
    init(
        _ kind: StoreKind, over base: RecordingTokenStore, _ server: RotatingTokenServer, _ clock: ManualTimeSource,
        journal: (any SessionJournal)? = nil, isClient: Bool = false
    ) {
        (self.server, self.clock) = (server, clock)
        handler = ScriptedRefreshHandler(otherwise: isClient ? .client : .rotate, server: server)
        store = FaultyTokenStore(base)
        kept = Locked(
            TokenRefreshCoordinator(
                over: kind.view(of: store), isClient ? ClientHandler(script: handler) : handler, journal: journal,
                revocation: revocation, clock: clock, activity: activity, events: events))
    }

    /// A bench where ada has signed in and is stored.
    static func signedIn(_ kind: StoreKind = .own) async throws -> Bench { try await withToken(kind).bench }

    /// A bench where ada has signed in, and her token.
    static func withToken(_ kind: StoreKind = .own) async throws -> (bench: Bench, token: SessionToken) {
        let bench = Bench(kind)
        return (bench, try await bench.signIn())
    }

    /// Time passes until the token in use may be refreshed in the background, which is at another age for each session.
    func passToAhead() {
        guard let start = engine.core.withLock({ $0.machine.current?.expiry.aheadFrom }) else { return }
        clock.advance(by: start - clock.uptime)
    }

    /// Releases the engine, which its work under way may keep, and waits until it is deallocated.
    func releaseEngine(while action: () async throws -> Void = {}) async throws {
        weak let engine = kept.withLock { $0 }
        kept.withLock { $0 = nil }
        try await action()
        try await until { engine == nil }
    }

    /// The engine of another process with the same store.
    func other() -> TokenRefreshCoordinator { TokenRefreshCoordinator(over: store, handler, clock: clock) }

    @discardableResult
    func signIn(_ user: String = "ada") async throws -> SessionToken {
        try await engine.signIn(server.signIn(user))
        return try await engine.token()
    }

    /// Starts requests whose token was refused, and a refresh that waits at a gate with its call made.
    func startRefresh(of token: SessionToken, requests count: Int = 10) async throws -> (
        gate: Gate, requests: [Request]
    ) {
        let (gate, calls) = (handler.holdNext(), handler.calls.count)
        let requests = refuse(token, times: count)
        try await handler.calls(atLeast: calls + 1)
        try await waiters(atLeast: count)
        return (gate, requests)
    }

    func refuse(_ token: SessionToken, times count: Int = 1) -> [Request] {
        (0..<count).map { _ in Task { [engine] in try await engine.replacement(for: token) } }
    }

    func ask(times count: Int = 1) -> [Request] {
        (0..<count).map { _ in Task { [engine] in try await engine.token() } }
    }

    /// Waits until this many requests wait for the refresh under way, so that none comes late.
    func waiters(atLeast count: Int) async throws {
        try await until { engine.core.withLock { $0.callers.waiters.count } >= count }
    }
}

extension TokenRefreshCoordinator {
    /// An engine whose clock stands still unless the test moves it, so that a slow machine reaches no deadline.
    convenience init(
        over store: any TokenStore = RecordingTokenStore(holding: .fixture()),
        _ handler: any TokenRefreshHandler = ScriptedRefreshHandler(),
        journal: (any SessionJournal)? = nil,
        revocation: (any TokenRevocationHandler)? = nil,
        clock: ManualTimeSource = ManualTimeSource(),
        activity: any ExpiringActivity = SystemExpiringActivity(),
        events: EventLog = EventLog()
    ) {
        self.init(
            store: store, handler: handler, journal: journal, revocation: revocation, clock: clock,
            activity: activity, observer: { events.record($0.name) })
    }
}

extension ScriptedRefreshHandler {
    /// Makes the next call wait at a gate. Then the server rotates.
    func holdNext() -> Gate {
        let gate = Gate()
        add(.held(at: gate, then: .rotate))
        return gate
    }
}

extension ManualTimeSource {
    func advance(by step: Duration, until condition: () throws -> Bool) async throws {
        try await TestSupport.until {
            advance(by: step)
            return try condition()
        }
    }
}

/// Lets everything that can run do so for a while.
func settle() async {
    for _ in 0..<100 { await Task.yield() }
}

extension Sequence where Element == Bench.Request {
    /// How the requests ended: `ada1 g1`, an error's code, or `cancelled`.
    func outcomes() async -> [String] {
        var outcomes: [String] = []
        for request in self { outcomes.append(await request.outcome()) }
        return outcomes
    }
}

extension Task where Success == SessionToken, Failure == any Error {
    /// How it ended. It is cancelled with the task that waits.
    func outcome() async -> String {
        switch await withTaskCancellationHandler(operation: { await result }, onCancel: { cancel() }) {
        case .success(let token): token.name
        case .failure(let error): code(of: error)
        }
    }
}

extension SessionToken {
    /// Whose token it is and which: `ada1 g1` for `access-ada1-1`.
    var name: String {
        let parts = value.split(separator: "-")
        return parts.count == 3 ? "\(parts[1]) g\(parts[2])" : "another token"
    }
}

/// What an asynchronous call throws, by the code of the error.
func code(of call: () async throws -> Void) async -> String? {
    do {
        try await call()
        return nil
    } catch {
        return code(of: error)
    }
}

private func code(of error: any Error) -> String {
    if error is CancellationError { return "cancelled" }
    return (error as? AuthenticationError)?.code.rawValue ?? "\(error)"
}

/// The store and the journal of one user, or of a client, and the processes that use them. Time stands still, so that
/// no limit passes on a busy machine: a process whose store or journal hangs counts as killed.
struct JournaledPlace: Sendable {
    let clock: ManualTimeSource
    let base: RecordingTokenStore
    let journal = MemorySessionJournal()
    let server = RotatingTokenServer(lifetime: .seconds(86_400))
    private let isClient: Bool

    init(isClient: Bool = false) {
        self.isClient = isClient
        clock = ManualTimeSource()
        base = RecordingTokenStore(clock: clock)
    }

    /// What is stored: `ada1 g0`. `nil`: no tokens.
    var stored: String? { base.bundle?.token.name }

    func start(_ kind: Bench.StoreKind) -> Bench {
        Bench(kind, over: base, server, clock, journal: journal, isClient: isClient)
    }

    /// A process that has signed ada in. The subject of a user is known.
    func signedIn(_ kind: Bench.StoreKind) async throws -> Bench {
        let process = start(kind)
        try await process.engine.signIn(login("ada"))
        _ = await process.engine.settle()
        return process
    }

    func login(_ user: String) -> TokenRefreshResult {
        var tokens = server.signIn(user)
        tokens.subject = TokenSubject(issuer: "https://issuer.example", id: user)
        return tokens
    }
}
