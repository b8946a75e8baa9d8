import AuthInterface
import Foundation

@testable import TokenRefresh

/// A machine, two clocks and a way to write races down: an event in, what the machine decided out, as text.
///
/// ```
/// var script = MachineScript.signedIn()
/// #expect(script.refused(1, generation: 0) == ["call g0"])
/// ```
struct MachineScript {
    var machine: RefreshStateMachine
    var uptime: Duration = .seconds(1_000)
    var date = Date(timeIntervalSince1970: 1_800_000_000)
    /// The alarms that are set.
    var timers: [RefreshTimer: Duration] = [:]
    /// What the machine reported so far.
    var events: [SessionEvent] = []
    private var lastCall: (id: AttemptID, base: TokenBundle)?
    private var lastAttempt: AttemptID?
    private var lastWrite = 0
    /// What the store was last asked to hold.
    private(set) var lastContent: StoreContent?

    init(policy: TokenRefreshPolicy = .init(), isShared: Bool = false, rules: RefreshRules = .init()) {
        machine = RefreshStateMachine(policy: policy, isShared: isShared, seed: 7, rules: rules)
    }

    /// A machine in which ada has signed in and is stored. Her first access token is good for an hour.
    static func signedIn(
        isShared: Bool = false,
        lifetime: Duration? = .seconds(3_600),
        refreshToken: String? = "refresh-ada-0",
        policy: TokenRefreshPolicy = .init(),
        rules: RefreshRules = .init()
    ) -> MachineScript {
        var script = MachineScript(policy: policy, isShared: isShared, rules: rules)
        _ = script.signIn(900, as: "ada", lifetime: lifetime, refreshToken: refreshToken)
        _ = script.wrote()
        return script
    }

    // MARK: What others do

    mutating func tell(_ event: RefreshEvent) -> [String] {
        let actions = machine.handle(event, at: Instant(uptime: uptime, date: date))
        for action in actions { note(action) }
        return actions.compactMap(\.text)
    }

    mutating func ask(_ waiter: Int) -> [String] {
        tell(.tokenAsked(WaiterID(number: waiter)))
    }

    mutating func refused(_ waiter: Int, generation: Int, of user: String = "ada") -> [String] {
        let session = SessionID(rawValue: user)
        let token = SessionToken(value: "access-\(user)-\(generation)", session: session, generation: generation)
        return tell(.tokenRefused(token, WaiterID(number: waiter)))
    }

    mutating func cancel(_ waiter: Int) -> [String] {
        tell(.waiterCancelled(WaiterID(number: waiter)))
    }

    mutating func signIn(
        _ waiter: Int,
        as user: String,
        lifetime: Duration? = .seconds(3_600),
        refreshToken: String? = nil
    ) -> [String] {
        let tokens = TokenRefreshResult(
            accessToken: "access-\(user)-0",
            refreshToken: refreshToken ?? (user == "ada" ? nil : "refresh-\(user)-0"),
            expiresIn: lifetime
        )
        return tell(.signIn(tokens, SessionID(rawValue: user), WaiterID(number: waiter)))
    }

    mutating func signOut(_ waiter: Int) -> [String] {
        tell(.signOut(WaiterID(number: waiter)))
    }

    // MARK: What the outside answers

    /// The handler answers the last call with the next generation, or with a verdict.
    mutating func answer(
        _ verdict: TokenRefreshError? = nil,
        lifetime: Duration? = .seconds(3_600),
        accessToken: String? = nil,
        call: (id: AttemptID, base: TokenBundle)? = nil
    ) -> [String] {
        guard let call = call ?? lastCall else { return ["no call to answer"] }
        if let verdict { return tell(.answered(call.id, base: call.base, .failure(verdict))) }
        let name = "\(call.base.session.rawValue)-\(call.base.generation + 1)"
        let result = TokenRefreshResult(
            accessToken: accessToken ?? "access-\(name)",
            refreshToken: "refresh-\(name)",
            expiresIn: lifetime
        )
        return tell(.answered(call.id, base: call.base, .success(result)))
    }

    /// The call that is on its way, to be answered later than others.
    var call: (id: AttemptID, base: TokenBundle)? { lastCall }

    mutating func leased() -> [String] {
        lastAttempt.map { tell(.leased($0)) } ?? ["nobody waits for the lease"]
    }

    mutating func leaseFailed() -> [String] {
        let busy = TokenStoreError(.busy, reason: "somebody else has it")
        return lastAttempt.map { tell(.leaseFailed($0, busy)) } ?? ["nobody waits for the lease"]
    }

    mutating func reread(_ result: Result<TokenBundle?, TokenStoreError>) -> [String] {
        lastAttempt.map { tell(.reread($0, result)) } ?? ["nobody reads"]
    }

    mutating func wrote(_ outcome: WriteOutcome = .written) -> [String] {
        tell(.wrote(version: lastWrite, outcome))
    }

    mutating func storeFails() -> [String] {
        wrote(.failed(.locked))
    }

    /// Time passes on both clocks; alarms that are due ring in order.
    mutating func pass(_ duration: Duration) -> [String] {
        let end = uptime + duration
        var texts: [String] = []
        while let next = timers.filter({ $0.value <= end }).min(by: { $0.value < $1.value }) {
            move(to: max(next.value, uptime))
            timers[next.key] = nil
            texts += tell(.timerFired(next.key))
        }
        move(to: end)
        return texts
    }

    private mutating func move(to instant: Duration) {
        date += (instant - uptime) / .seconds(1)
        uptime = instant
    }

    private mutating func note(_ action: RefreshAction) {
        switch action {
        case .call(let id, let base, _):
            lastCall = (id, base)
            lastAttempt = id
        case .lease(let id), .reread(let id): lastAttempt = id
        case .write(let version, let content):
            lastWrite = version
            lastContent = content
        case .startTimer(let timer, let deadline): timers[timer] = deadline
        case .stopTimer(let timer): timers[timer] = nil
        case .report(let event): events.append(event)
        default: break
        }
    }
}

extension TokenBundle {
    static func stored(_ user: String, _ generation: Int, expiresAt: Date? = nil) -> TokenBundle {
        TokenBundle(
            accessToken: "access-\(user)-\(generation)",
            refreshToken: "refresh-\(user)-\(generation)",
            expiresAt: expiresAt,
            session: SessionID(rawValue: user),
            generation: generation
        )
    }
}

extension TokenStoreError {
    static let locked = TokenStoreError(.unavailable, reason: "locked")
}

extension RefreshAction {
    /// What a reader of a table needs to see. Alarms and reports are kept beside it.
    fileprivate var text: String? {
        switch self {
        case .load: "load"
        case .lease: "lease"
        case .reread: "reread"
        case .write(_, .bundle(let bundle, _)): "save \(bundle.session.rawValue) g\(bundle.generation)"
        case .write(_, .nothing): "delete"
        case .release: "release"
        case .call(_, let base, _): "call g\(base.generation)"
        case .cancelCall: "cancel call"
        case .revoke(let bundle): "revoke \(bundle.session.rawValue) g\(bundle.generation)"
        case .answer(let waiter, let answer): "\(waiter.number): \(answer.text)"
        case .publish(.signedIn(let session)): "signed in \(session.rawValue)"
        case .publish(let state): "\(state)"
        case .startTimer, .stopTimer, .report: nil
        }
    }
}

extension RefreshAnswer {
    fileprivate var text: String {
        switch self {
        case .token(let token): "\(token.session.rawValue) g\(token.generation)"
        case .state(.signedIn(let session)): "signed in \(session.rawValue)"
        case .state(let state): "\(state)"
        case .done: "done"
        case .failed(let error): error.code.rawValue
        case .cancelled: "cancelled"
        }
    }
}
