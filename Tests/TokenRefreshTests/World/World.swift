import AuthInterface
import ConcurrencyPrimitives
import Foundation

@testable import TokenRefresh

/// A device with its processes and its store, an authorization server, a resource server, and time.
///
/// Two drivers decide what happens next. The simulation draws it (``step(_:)``), so that all follows from the plan and
/// the draws. The exploration takes everything that can happen (``ExploredWorld``).
struct World {
    static let epoch = Date(timeIntervalSinceReferenceDate: 800_000_000)
    /// How late a timer may fire, in milliseconds.
    static let lateness = 50

    let plan: WorldPlan
    /// The true time, which is the uptime too, in milliseconds.
    var now = 1_000
    /// How far the device's wall clock has been set away from the true time, in seconds.
    var wallOffset: TimeInterval = 0
    /// When it was last set.
    var clockSetAt: Int?
    var server: AuthorizationServer
    var store = DeviceStore()
    var journal = DeviceJournal()
    /// The sessions that a sign-out, or a sign-in over them, has ended: the journal has noted it, or the store has it.
    var ended: Set<SessionID> = []
    var processes: [DeviceProcess] = []
    var calls: [Call] = []
    /// The idempotency keys of the grants whose calls have returned nothing yet.
    var keys: [Int: String] = [:]
    /// The first intent or call with a key.
    var firstCalls: [String: Int] = [:]
    /// Until when no process may call with a refresh token, as the store has said.
    var pauses: [Int: Int] = [:]
    var refusesEverything = false
    var isServerDown = false
    var isDraining = false
    var waiters = 0
    var madeCalls = 0
    var starts: UInt64 = 0
    var violation: Law?
    var trace: [String]?

    init(plan: WorldPlan, fault: World.Fault? = nil, isTraced: Bool = false) {
        self.plan = plan
        store.fault = fault
        server = AuthorizationServer(plan: plan.server)
        server.fault = fault
        if isTraced { trace = [] }
        for number in 0..<plan.processes { processes.append(newProcess(number)) }
        for later in 1..<max(processes.count, 1) { processes[later].isAlive = false }
    }

    var isShared: Bool { plan.isShared }

    /// Whether the wall clock was set at an instant or later: dates from before say nothing then.
    func isClockSet(since instant: Int) -> Bool { clockSetAt.map { $0 >= instant } ?? false }

    mutating func newProcess(_ number: Int) -> DeviceProcess {
        starts += 1
        var (incarnation, name) = (Int(starts), "p\(number + 1).\(starts)")
        if plan.hasMirroredNames {
            incarnation = number < processes.count ? processes[number].incarnation + 1 : 0
            name = "\(number)\(incarnation)"
        }
        let owner = ProcessIdentity(host: "device", process: name)
        let settings = MachineSettings(
            policy: plan.policy, isShared: isShared,
            owner: perspective(of: number)?.view(owner: owner) ?? owner, tolerance: plan.tolerance,
            hasJournal: plan.hasJournal
        )
        let random = RandomSource(seeded: SplitMix64(seed: plan.seed &+ UInt64(incarnation)))
        let machine = RefreshStateMachine(settings: settings, random: random)
        return DeviceProcess(machine: SharedMachine(machine), owner: owner, incarnation: incarnation)
    }

    /// The names that a process has for itself and the other one. `nil`: those of the world.
    func perspective(of process: Int) -> Perspective? { plan.hasMirroredNames ? Perspective(slot: process) : nil }

    /// A number for a caller: one that no other has had, or, where states are told apart, the smallest that is free.
    mutating func newWaiter(_ process: Int) -> Int {
        guard plan.hasMirroredNames else {
            waiters += 1
            return waiters
        }
        let taken = processes[process].requests.map(\.waiter)
        return (1...).first { !taken.contains($0) } ?? 0
    }

    /// Notes a broken law, where it is stated for this world.
    mutating func fail(_ law: Law, _ what: String) {
        guard violation == nil, plan.traits.isDisjoint(with: law.exceptions) else { return }
        violation = law
        if isTraced { note("BROKEN \(law.rawValue): \(what)") }
    }

    var isTraced: Bool { trace != nil }

    mutating func note(_ text: String) {
        let second = "\(now / 1_000)." + "\(1_000 + now % 1_000)".dropFirst()
        trace?.append("\(second)  \(text)")
    }

    /// What the world is like, and its events, if they were written down.
    var dump: String {
        let plan = "world \(plan.seed): \(plan.lease), \(plan.tolerance), \(plan.server), \(plan.rates), \(plan.policy)"
        return ([plan] + (trace ?? [])).joined(separator: "\n")
    }

    // MARK: Time

    mutating func moveTime(to instant: Int) { now = max(now, instant) }

    var instant: Instant {
        let date = Self.epoch + wallOffset + TimeInterval(now - 1_000) / 1_000
        return Instant(uptime: .milliseconds(now), date: date)
    }

    var serverDate: Date { Self.epoch + plan.server.skew + TimeInterval(now - 1_000) / 1_000 }

    var nextTimer: Int? { processes.lazy.filter(\.runs).flatMap(\.timers).map(\.at).min() }

    // MARK: The machine

    mutating func send(_ process: Int, _ event: RefreshEvent) {
        guard processes[process].runs else { return }
        // No lease is lost before the process has it.
        if case .lease(.taken) = event {} else if plan.noticesLosses { noticeLosses(process) }
        handle(event, process)
        checkWork(process)
    }

    mutating func noticeLosses(_ process: Int) {
        for lost in lostLeases(of: process) {
            withdrawCalls(of: process)
            processes[process].knownLoss = lost
            handle(.lease(.lost(lost)), process)
        }
    }

    private mutating func handle(_ event: RefreshEvent, _ process: Int) {
        if isTraced { note("p\(process + 1) <- \(event)") }
        let before = MachineSnapshot(processes[process], event: event)
        let actions = processes[process].handle(event, at: instant)
        if case .signIn(_, let session, _) = event, let bundle = processes[process].bundle {
            server[session].ordinal = bundle.ordinal
        }
        // The end of a session that was never published may be no news.
        if before.session != nil, processes[process].bundle == nil {
            processes[process].notes.endedAt = server.families.count
        }
        for action in actions { perform(action, process, before) }
        checkLoss(process, actions)
        checkLaws(process, before)
    }

    private mutating func perform(_ action: RefreshAction, _ process: Int, _ before: MachineSnapshot) {
        if isTraced { note("p\(process + 1)    -> \(action)") }
        switch action {
        case .read(let purpose): add(.read(purpose), process)
        case .lease(let id): add(.lease(id), process)
        case .release(let id):
            noteRelease(of: id, by: process)
            add(.release(id), process)
        case .write(let version, let content):
            checkSubject(content.bundle, process, "stores")
            // The date in the intent counts. The write may have waited for an earlier one.
            if let intent = content.bundle?.refreshIntent {
                let age = Int((instant.date.timeIntervalSince(intent.date) * 1_000).rounded())
                processes[process].notes.intentAt = now - max(0, age)
                noteCall(worldKey(intent.idempotencyKey, of: process), since: now - age)
            }
            add(.write(version: version, content), process)
        case .call(let id, let base, let request, let startBefore):
            call(process, id, base, request, startBefore: startBefore)
        case .cancelCall(let id):
            for index in 0..<calls.count where calls[index].attempt == id && calls[index].process == process {
                if !calls[index].isOrphan { calls[index].isCancelled = true }
            }
        case .withdrawCall(let id):
            for index in 0..<calls.count where calls[index].attempt == id && calls[index].process == process {
                if calls[index].phase == .made { calls[index].isCancelled = true }
            }
        case .revoke(let bundle, let besideAnother): revoke(bundle, besideAnother: besideAnother, process, before)
        case .releaseKey: break
        case .startTimer(let timer, let deadline):
            processes[process].stop(timer)
            processes[process].timers.append(.init(timer: timer, at: deadline.milliseconds))
        case .stopTimer(let timer): processes[process].stop(timer)
        case .respond(let waiter, let response): noteResponse(process, waiter.number, response)
        case .publish(let state):
            processes[process].announced = state
            published(process, state, before)
        case .report(let event): reported(process, event)
        }
    }

    private func add(_ kind: DeviceProcess.Job.Kind, _ process: Int) {
        var job = DeviceProcess.Job(kind: kind, since: now)
        switch kind {
        case .read:
            job.ended = ended
            if plan.hasJournal { job.journal = nil }
        case .write(_, let content): if plan.hasJournal, content.note(isShared: isShared) != nil { job.journal = nil }
        case .lease, .release: break
        }
        processes[process].jobs.append(job)
    }

    private mutating func call(
        _ process: Int, _ id: AttemptID, _ base: TokenBundle, _ request: TokenRefreshRequest, startBefore: Duration
    ) {
        guard !request.refreshToken.isEmpty else {
            return fail(.noToken, "p\(process + 1) calls with an empty refresh token")
        }
        let token = Int(named: request.refreshToken)
        let key = worldKey(request.idempotencyKey, of: process)
        madeCalls += 1
        let intent = (store.content.bundle?.refreshIntent).map { $0.idempotencyKey == key }
        let since = intent == true ? min(processes[process].notes.intentAt, now) : now
        var call = Call(
            number: madeCalls, process: process, attempt: id, base: base, token: token, key: key, since: since,
            startBefore: startBefore.milliseconds)
        call.complained = processes[process].notes.complained
        call.isUnguarded = isShared && store.lease?.owner != processes[process].owner
        checkMark(process, base)
        calls.append(call)
        if !plan.delaysWrites { write(call: calls.count - 1) }
    }

    /// The first byte of a call is written, if it may be (G28). From here on it may reach the server.
    mutating func write(call index: Int) {
        guard now < calls[index].startBefore else { return endUnmade(index, because: "too late for a call") }
        var call = calls[index]
        (call.phase, call.hasSlept) = (.sent, false)
        checkCall(call)
        keys[call.base.grant] = call.key
        noteCall(call.key, since: call.since)
        calls[index] = call
    }

    /// G28. A call ends of which no byte was written.
    mutating func endUnmade(_ index: Int, because reason: String) {
        let call = calls.remove(at: index)
        handle(.callNotMade(call.attempt, TokenRefreshError(.unavailable, reason: reason)), call.process)
        checkWork(call.process)
    }

    /// Withdraws the calls of a process of which no byte was written.
    mutating func withdrawCalls(of process: Int) {
        while let index = calls.firstIndex(where: { $0.process == process && $0.phase == .made }) {
            endUnmade(index, because: "withdrawn")
        }
    }

    /// An idempotency key of a process, as no other process has it.
    func worldKey(_ key: String, of process: Int) -> String { perspective(of: process)?.unview(key: key) ?? key }

    private mutating func noteCall(_ key: String, since: Int) {
        firstCalls[key] = min(firstCalls[key] ?? since, since)
    }

    private mutating func revoke(_ bundle: TokenBundle, besideAnother: Bool, _ process: Int, _ before: MachineSnapshot)
    {
        let current = processes[process].current?.bundle.session
        if current == bundle.session { fail(.revocation, "p\(process + 1) revokes \(bundle.session.rawValue)") }
        if current != nil, !besideAnother {
            fail(.revocation, "p\(process + 1) revokes \(bundle.session.rawValue) as if it were alone")
        }
        if !besideAnother, case .wrote(_, .superseded(.active(let found))) = before.event,
            found.session != bundle.session
        {
            fail(.revocation, "p\(process + 1) revokes \(bundle.session.rawValue) as if it had found none")
        }
        let family = Int(named: bundle.session.rawValue)
        checkSubject(bundle, process, "revokes")
        checkRevocation(of: bundle, process, before)
        processes[process].mustRevoke.remove(family)
        if besideAnother, !plan.server.revokesAlone { return }
        // Another process that is in the session would report the revocation as an expiry.
        if isShared, store.content.bundle?.session == bundle.session, !before.isStoreFailure {
            fail(.oneReason, "p\(process + 1) revokes \(bundle.session.rawValue), which the store still holds")
        }
        server.revoke(family: family)
    }
}
