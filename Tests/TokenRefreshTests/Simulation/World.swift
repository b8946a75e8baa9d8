import AuthInterface
import Foundation

@testable import TokenRefresh

/// A device with its processes and its store, an authorisation server, a resource server, and time.
///
/// Nothing happens in it but by ``step(_:)``, and everything that happens follows from the plan and the dice.
struct World {
    static let epoch = Date(timeIntervalSinceReferenceDate: 800_000_000)
    /// How late an alarm may ring, in milliseconds.
    static let lateness = 50

    let plan: WorldPlan
    let rules: RefreshRules
    /// The true time, which is the uptime too, in milliseconds.
    var now = 1_000
    var instant: Instant
    /// How far the device's wall clock has been set away from the true time, in seconds.
    var wallOffset: TimeInterval = 0
    var server: AuthorizationServer
    var store = DeviceStore()
    var processes: [DeviceProcess] = []
    var calls: [Call] = []
    /// What the resource server does to everybody, whatever the token.
    var refusesEverything = false
    /// What the authorisation server does to everybody.
    var isServerDown = false
    var isDraining = false
    var waiters = 0
    var madeCalls = 0
    /// How many events the machines have been told.
    var events = 0
    var starts: UInt64 = 0
    /// Which laws count.
    let scope: Scope
    /// The broken law that ends the world.
    var violation: Violation?
    /// In a survey, the first violation of each law in each way.
    var found: [Violation.Key: Violation] = [:]
    var trace: [String]?

    init(plan: WorldPlan, rules: RefreshRules = RefreshRules(), scope: Scope = Scope(), isTraced: Bool = false) {
        self.plan = plan
        self.rules = rules
        self.scope = scope
        store.showsEmptyTokens = plan.showsEmptyTokens && !plan.server.givesRefreshTokens
        server = AuthorizationServer(plan: plan.server)
        instant = Instant(uptime: .milliseconds(1_000), date: Self.epoch)
        if isTraced { trace = [] }
        for _ in 0..<plan.processes { processes.append(newProcess()) }
        for later in 1..<max(processes.count, 1) { processes[later].isAlive = false }
    }

    /// A way to break a law that needs a store which shows empty refresh tokens.
    var wayOfEmptyTokens: String { store.showsEmptyTokens ? "with an empty refresh token in the store" : "" }

    var isShared: Bool { plan.sharing == .shared }

    mutating func newProcess() -> DeviceProcess {
        starts += 1
        return DeviceProcess(
            machine: RefreshStateMachine(
                policy: plan.policy,
                isShared: isShared,
                seed: plan.seed &+ starts,
                rules: rules
            )
        )
    }

    mutating func newWaiter() -> Int {
        waiters += 1
        return waiters
    }

    /// Notes a broken law. `way` tells the ways apart in which it can be broken; it is the end of the text.
    mutating func fail(_ law: Law, _ what: String, _ way: String = "") {
        let key = Violation.Key(law: law, way: way)
        guard violation == nil, scope.contains(key), found[key] == nil else { return }
        let broken = Violation(key: key, what: way.isEmpty ? what : "\(what) \(way)")
        if scope.isSurvey { found[key] = broken } else { violation = broken }
        if isTraced { note("BROKEN \(law.rawValue): \(broken.what)") }
    }

    /// Whether the world's events are written down.
    var isTraced: Bool { trace != nil }

    mutating func note(_ story: String) {
        let second = "\(now / 1_000)." + "\(1_000 + now % 1_000)".dropFirst()
        trace?.append("\(second)  \(story)")
    }

    // MARK: Time

    mutating func moveTime(to instant: Int) {
        now = max(now, instant)
        setInstant()
    }

    mutating func setInstant() {
        instant = Instant(
            uptime: .milliseconds(now),
            date: Self.epoch + wallOffset + TimeInterval(now - 1_000) / 1_000
        )
    }

    /// The time on the server's clock.
    var serverDate: Date {
        Self.epoch + plan.server.skew + TimeInterval(now - 1_000) / 1_000
    }

    /// When the next alarm of a living process is due.
    var nextAlarm: Int? {
        var earliest: Int?
        for process in processes where process.isAlive {
            for alarm in process.alarms where alarm.at < earliest ?? .max { earliest = alarm.at }
        }
        return earliest
    }

    // MARK: The machine

    /// Tells a process's machine something, and does what it decides.
    mutating func tell(_ process: Int, _ event: RefreshEvent) {
        guard processes[process].isAlive else { return }
        if isTraced { note("p\(process + 1) <- \(event.story)") }
        events += 1
        let before = View(processes[process].machine, event: event, at: instant)
        let actions = processes[process].machine.handle(event, at: instant)
        for action in actions { perform(action, process, before) }
        judge(process, before)
    }

    private mutating func perform(_ action: RefreshAction, _ process: Int, _ before: View) {
        if isTraced, let story = action.story { note("p\(process + 1)    -> \(story)") }
        switch action {
        case .load: processes[process].operations.append(.load)
        case .lease(let id): processes[process].operations.append(.lease(id))
        case .reread(let id): processes[process].operations.append(.reread(id))
        case .write(let version, let content):
            processes[process].operations.append(.write(version: version, content))
        case .release(let id): processes[process].operations.append(.release(id))
        case .call(let id, let base, let token):
            if token.isEmpty { fail(.noToken, "p\(process + 1) calls with an empty refresh token") }
            call(process, id, base, Int(named: token))
        case .cancelCall(let id):
            for index in 0..<calls.count where calls[index].attempt == id && calls[index].process == process {
                if !calls[index].isOrphan { calls[index].isCancelled = true }
            }
        case .revoke(let bundle): revoke(bundle, process)
        case .startTimer(let timer, let deadline):
            processes[process].stop(timer)
            processes[process].alarms.append(.init(timer: timer, at: deadline.milliseconds))
        case .stopTimer(let timer): processes[process].stop(timer)
        case .answer(let waiter, let answer): answered(process, waiter.number, answer, before)
        case .publish(let state): published(process, state, before)
        case .report(let event): reported(process, event, before)
        }
    }

    private mutating func call(_ process: Int, _ id: AttemptID, _ base: TokenBundle, _ token: Int) {
        judgeCall(process, base, token)
        madeCalls += 1
        let rivals = calls.filter { isUnderWay($0, with: token, of: process) }.map(\.number)
        let call = Call(number: madeCalls, process: process, attempt: id, base: base, token: token, rivals: rivals)
        calls.append(call)
    }

    private mutating func revoke(_ bundle: TokenBundle, _ process: Int) {
        if processes[process].machine.session?.bundle.session == bundle.session {
            fail(.revocation, "p\(process + 1) revokes \(bundle.session.rawValue)")
        }
        server.revoke(family: Int(named: bundle.session.rawValue))
    }
}

extension DeviceProcess {
    func stop(_ timer: RefreshTimer) {
        for index in 0..<alarms.count where alarms[index].timer == timer {
            alarms.remove(at: index)
            return
        }
    }
}

/// What the referee must know of a machine before a step, and of the step.
struct View {
    let session: SessionID?
    let generation: Int
    let accessToken: String?
    let refreshToken: String?
    let urgency: Expiry.Urgency
    let isActivating: Bool
    let event: RefreshEvent

    init(_ machine: RefreshStateMachine, event: RefreshEvent, at now: Instant) {
        session = machine.session?.bundle.session
        generation = machine.session?.bundle.generation ?? 0
        accessToken = machine.session?.bundle.accessToken
        refreshToken = machine.newestBundle?.refreshToken
        urgency = machine.session?.expiry.urgency(at: now.uptime) ?? .none
        isActivating = machine.session?.activation != nil
        self.event = event
    }

    /// Whether the event shows the machine what the store holds.
    var isLook: Bool {
        switch event {
        case .reread, .wrote(_, .superseded): true
        default: false
        }
    }
}
