import AuthInterface
import Foundation

@testable import TokenRefresh

/// The laws, checked after each step.
extension World {
    // MARK: After each event

    mutating func judge(_ process: Int, _ before: View) {
        let machine = processes[process].machine
        if let bundle = machine.session?.bundle, bundle.session == before.session {
            let isOther = bundle.generation == before.generation && bundle.accessToken != before.accessToken
            if bundle.generation < before.generation || (isOther && !before.isLook) {
                fail(.backwards, "p\(process + 1) had g\(before.generation) and has \(bundle.story)")
            }
        }
        if let left = before.session, machine.session?.bundle.session != left {
            processes[process].notes.left.insert(left)
            judgeReplacement(process, left, machine.session?.bundle.session, before)
        }
        judgeWaiting(process)
        judgeTimers(process)
    }

    /// G9. A login gives way to a later login, or to its own end, and never to one before it.
    private mutating func judgeReplacement(_ process: Int, _ left: SessionID, _ new: SessionID?, _ before: View) {
        guard plan.sharing != .unguarded, let new, Int(named: new.rawValue) < Int(named: left.rawValue) else { return }
        if !server.families[Int(named: left.rawValue)].isRetired {
            fail(.backwards, "p\(process + 1) left \(left.rawValue) for the older \(new.rawValue)")
        }
    }

    /// G8. Every limit that may follow upon another, and the lateness of their alarms.
    private mutating func judgeWaiting(_ process: Int) {
        for request in processes[process].requests where request.isWaiting {
            let waited = now - request.since
            guard waited > 2_000 else { continue }
            let policy = plan.policy
            let limit: Int
            switch request.kind {
            case .signIn, .signOut: limit = policy.storeDeadline.milliseconds
            case .restore: limit = policy.storeDeadline.milliseconds * 2
            case .token, .replacement:
                limit = (policy.storeDeadline * 2 + policy.deadline + policy.patience).milliseconds
            }
            if waited > limit + 10 * Self.lateness {
                fail(.deadline, "p\(process + 1) #\(request.waiter) has waited for \(waited) ms", wayOfEmptyTokens)
            }
        }
    }

    // MARK: Calls

    mutating func judgeCall(_ process: Int, _ base: TokenBundle, _ token: Int) {
        let notes = processes[process].notes
        if !plan.server.givesRefreshTokens { fail(.noToken, "p\(process + 1) calls for \(base.story)") }
        for other in calls where isUnderWay(other, with: token, of: process) {
            let hasLeft = processes[other.process].machine.session?.bundle.session != base.session
            let way = hasLeft ? "of a process that has left the session" : ""
            fail(.secondCall, "p\(process + 1) calls with r\(token) during the call of p\(other.process + 1)", way)
        }
        for other in calls where isRival(other, of: process, base.session) {
            fail(.singleFlight, "p\(process + 1) calls for \(base.story) while p\(other.process + 1) does")
        }
        if let pause = notes.pause, pause.session == base.session, now < pause.until {
            fail(.pause, "p\(process + 1) calls \(pause.until - now) ms too early")
        }
        if server.grants[token].isSuccessorStored, plan.sharing != .unguarded {
            fail(.rotation, "p\(process + 1) uses r\(token), whose successor has been stored")
        }
        if let received = notes.received, received.mark.session == base.session,
            processes[process].machine.session?.origin != .store, received.mark.generation > base.generation,
            plan.sharing == .alone
        {
            fail(.rotation, "p\(process + 1) calls for \(base.story) after \(received.mark.generation)")
        }
        judgeReason(process, base)
    }

    /// Whether a call is on its way for the session already, and somebody counts on it.
    private func isRival(_ call: Call, of process: Int, _ session: SessionID) -> Bool {
        guard call.base.session == session, !call.isOverdue, !call.isOrphan else { return false }
        guard call.process == process || isShared else { return false }
        return processes[call.process].machine.session?.bundle.session == session
    }

    /// G19. Nobody refreshes without an expiry in sight or a refusal, whatever the wall clock says.
    private mutating func judgeReason(_ process: Int, _ base: TokenBundle) {
        let notes = processes[process].notes
        if let complained = notes.complained, complained == base.mark { return }
        if processes[process].machine.session?.origin != .store {
            guard let received = notes.received, received.mark == base.mark else { return }
            let isDue = received.lifetime.map { now >= received.at + $0 - window(of: $0) } ?? false
            if !isDue { fail(.clock, "p\(process + 1) calls for \(base.story) without a reason") }
        } else {
            // A stored expiry is an instant of the server's clock, where both sides knew that clock.
            let grant = server.grants[base.grant]
            let isKnown = notes.knewServerDate && grant.isDated
            guard isKnown || areClocksRight, let receipt = grant.receipt else { return }
            let longest = max(plan.policy.ahead, plan.policy.leeway).milliseconds
            let isDue = saidLifetime.map { now >= receipt + $0 - longest - 1_000 } ?? false
            if !isDue { fail(.clock, "p\(process + 1) takes \(base.story) for expired") }
            judgeWindow(process, base, receivedAt: receipt)
        }
    }

    /// Whether the device's clock and the server's show the true time from the world's beginning to its end.
    private var areClocksRight: Bool { plan.mood.clockJumps == 0 && plan.server.skew == 0 }

    /// How long before the end of a token the wish to refresh it begins, in milliseconds.
    private func window(of lifetime: Int) -> Int {
        let policy = plan.policy
        return max(min(policy.ahead.milliseconds, lifetime / 4), min(policy.leeway.milliseconds, lifetime / 10))
    }

    /// G3. A process that adopted or restored a token refreshes it no earlier than the process that received it.
    private mutating func judgeWindow(_ process: Int, _ base: TokenBundle, receivedAt receipt: Int) {
        guard let lifetime = saidLifetime else { return }
        let early = receipt + lifetime - window(of: lifetime) - now
        if early > 100 {
            fail(.windows, "p\(process + 1) refreshes \(base.story), lifetime \(lifetime) ms, \(early) ms too early")
        }
    }

    // MARK: Answers

    mutating func answered(_ process: Int, _ waiter: Int, _ answer: RefreshAnswer, _ before: View) {
        for index in 0..<processes[process].requests.count
        where processes[process].requests[index].waiter == waiter && processes[process].requests[index].isWaiting {
            let request = processes[process].requests[index]
            judgeLateness(process, waiter, answer, before)
            judgeUnauthorized(process, request, answer)
            judgeFailure(process, request, answer)
            guard case .token(let token) = answer else {
                noteEnds(process, request)
                processes[process].requests.remove(at: index)
                return
            }
            processes[process].requests[index].phase = .carrying(token)
            processes[process].requests[index].session = token.session
            if case .replacement(let refused) = request.kind, refused.value == token.value {
                fail(.otherToken, "p\(process + 1) #\(waiter) is given the refused \(token.story) again")
            }
            judgeToken(process, token, from: request.session)
            if case .tokenAsked = before.event, before.session == token.session { judgeLeeway(process, token) }
            return
        }
        fail(.answers, "p\(process + 1) #\(waiter) did not wait and is told \(answer.story)")
    }

    /// Notes how many logins there have been when a sign-in or a sign-out is over.
    private mutating func noteEnds(_ process: Int, _ request: DeviceProcess.Request) {
        let logins = server.families.count
        switch request.kind {
        case .signIn: processes[process].notes.begun = (processes[process].machine.session?.bundle.session, logins)
        case .signOut: processes[process].notes.ended?.logins = logins
        case .token, .replacement, .restore: break
        }
    }

    /// G2. The current token is good as far as anybody knows, and it is another than the refused one.
    private mutating func judgeLateness(_ process: Int, _ waiter: Int, _ answer: RefreshAnswer, _ before: View) {
        guard isLateRefusal(before), case .tokenRefused(_, let id) = before.event, id.number == waiter else { return }
        if case .token = answer { return }
        fail(.lateRefusal, "p\(process + 1) #\(waiter) is told \(answer.story)")
    }

    private func isLateRefusal(_ before: View) -> Bool {
        guard case .tokenRefused(let refused, _) = before.event, refused.session == before.session else { return false }
        return refused.generation < before.generation && before.urgency == .none && !before.isActivating
    }

    mutating func judgeToken(_ process: Int, _ token: SessionToken, from session: SessionID?) {
        if let session, session != token.session {
            fail(.fence, "p\(process + 1): \(token.story) for a request of \(session.rawValue)")
        }
        if !token.value.isHeaderSafe { fail(.usable, "p\(process + 1): \(token.story)") }
        let machine = processes[process].machine
        if let current = machine.session, current.bundle.mark == token.mark,
            current.expiry.urgency(at: instant.uptime) == .expired
        {
            fail(.expiredToken, "p\(process + 1): \(token.story)")
        }
        if !server.grants[Int(named: token.value)].wasStored, !isExcused(process, token) {
            fail(.persistence, "p\(process + 1): \(token.story) is nowhere but in memory")
        }
    }

    /// Whether a refresh has failed and the next cannot start yet: in a pause, or while a call is overdue.
    private func isHeldUp(_ process: Int) -> Bool {
        guard processes[process].notes.isFailing else { return false }
        let isPaused = processes[process].machine.session?.cooldown.map { instant.uptime < $0.until } ?? false
        return isPaused || calls.contains { $0.process == process && $0.isOverdue && !$0.isOrphan }
    }

    /// G3. Inside the leeway requests wait for the refresh, unless it has failed a moment ago.
    mutating func judgeLeeway(_ process: Int, _ token: SessionToken) {
        guard let session = processes[process].machine.session, session.bundle.mark == token.mark,
            !isHeldUp(process), session.origin != .store, session.bundle.refreshToken?.isEmpty == false,
            let received = processes[process].notes.received, received.mark == token.mark,
            let lifetime = received.lifetime
        else { return }
        let left = received.at + lifetime - now
        let leeway = min(plan.policy.leeway.milliseconds, lifetime / 10)
        if left < leeway {
            let isAheadShorter = min(plan.policy.ahead.milliseconds, lifetime / 4) < leeway
            let way = isAheadShorter ? "where the ahead window is shorter than the leeway" : ""
            fail(.leeway, "p\(process + 1): \(token.story) \(left) ms before its end", way)
        }
    }

    /// G6. A request fails because of a failure, and a success ends the failures before it.
    private mutating func judgeFailure(_ process: Int, _ request: DeviceProcess.Request, _ answer: RefreshAnswer) {
        guard case .failed(let error) = answer, error.code == .refreshUnavailable else { return }
        if !processes[process].notes.isFailing {
            fail(.success, "p\(process + 1) #\(request.waiter) is told \(answer.story)")
        }
    }

    /// G10. Before a request fails as unauthorized, the store is looked at.
    private mutating func judgeUnauthorized(
        _ process: Int,
        _ request: DeviceProcess.Request,
        _ answer: RefreshAnswer
    ) {
        guard isShared, case .failed(let error) = answer, error.code == .unauthorized,
            case .replacement(let refused) = request.kind, let stored = store.content,
            stored.session == refused.session, stored.generation > refused.generation
        else { return }
        if store.weather == .hangs || store.weather == .fails || store.weather == .failsToRead { return }
        if let look = processes[process].look, look.order >= request.order {
            // What the look missed was stored after it. A store that failed has shown nothing.
            guard let found = look.found ?? nil else { return }
            if found.session != refused.session || found.generation <= refused.generation { return }
        }
        fail(.newerStored, "p\(process + 1) #\(request.waiter) with \(refused.story); the store holds \(stored.story)")
    }

    func isExcused(_ process: Int, _ token: SessionToken) -> Bool {
        guard let excused = processes[process].notes.excused else { return false }
        return excused.session == token.session && excused.generation >= token.generation
    }

    // MARK: Reports and endings

    mutating func reported(_ process: Int, _ event: SessionEvent, _ before: View) {
        switch event {
        case .refreshStarted:
            processes[process].notes.knewServerDate = processes[process].notes.knowsServerDate
            judgeStart(process, before)
        case .refreshed(let session, let generation):
            processes[process].notes.refreshed = (.init(session: session, generation: generation), now)
            processes[process].notes.pause = nil
            processes[process].notes.isFailing = false
        case .refreshFailed: processes[process].notes.isFailing = true
        case .adopted:
            processes[process].notes.pause = nil
            processes[process].notes.isFailing = false
        case .lateAnswerKept:
            for index in 0..<calls.count where calls[index].process == process { calls[index].isOverdue = true }
            processes[process].notes.pause = nil
        default: break
        }
    }

    /// G2 and G10: what a refusal must not start.
    private mutating func judgeStart(_ process: Int, _ before: View) {
        guard case .tokenRefused(let refused, _) = before.event else { return }
        if isLateRefusal(before) { fail(.lateRefusal, "p\(process + 1) refreshes because of \(refused.story)") }
        let isCurrent = processes[process].machine.session?.bundle.accessToken == refused.value
        if let refusal = processes[process].notes.refusal, refusal.mark == refused.mark, isCurrent,
            now < refusal.until
        {
            fail(.loop, "p\(process + 1) refreshes for \(refused.story) again")
        }
    }

    /// Takes down a refusal before the machine hears of it.
    mutating func complained(_ process: Int, _ token: SessionToken) {
        if processes[process].machine.session?.bundle.mark == token.mark {
            processes[process].notes.complained = token.mark
        }
        guard let refreshed = processes[process].notes.refreshed, refreshed.mark == token.mark,
            now < refreshed.at + plan.policy.freshness.milliseconds,
            let session = processes[process].machine.session, session.origin != .store, session.attempt == nil,
            session.expiry.urgency(at: instant.uptime) != .expired
        else { return }
        if processes[process].notes.refusal?.mark != token.mark {
            let until = now + plan.policy.refusalCooldown.milliseconds
            processes[process].notes.refusal = (token.mark, until)
        }
    }

    mutating func published(_ process: Int, _ state: SessionState, _ before: View) {
        guard case .signedOut(let reason) = state else { return }
        if let session = before.session, reason != .byUser {
            processes[process].notes.ended = (session, server.families.count)
        }
        guard let session = before.session else {
            guard case .loaded(.failure) = before.event else { return }
            return fail(.store, "p\(process + 1) took a failure for an empty store")
        }
        if !processes[process].notes.endings.insert(session).inserted, plan.sharing != .unguarded {
            fail(.oneEnding, "p\(process + 1) ends \(session.rawValue) again")
        }
        let family = server.families[Int(named: session.rawValue)]
        switch reason {
        case .never: fail(.verdict, "p\(process + 1) never had \(session.rawValue)")
        case .byUser:
            if case .signOut = before.event { return }
            if !family.isRetired { fail(.verdict, "p\(process + 1) says that the user left \(session.rawValue)") }
        case .expired:
            if processes[process].notes.heardNo != session { fail(.verdict, "nobody rejected \(session.rawValue)") }
            judgeHealth(process, session, before)
        }
    }

    /// G13. What could still be refreshed is not given up.
    private mutating func judgeHealth(_ process: Int, _ session: SessionID, _ before: View) {
        // Without a lease the store may change after the second look, which is nobody's fault.
        let stored = plan.sharing == .unguarded ? processes[process].secondLook ?? store.content : store.content
        if let stored, stored.session == session, let token = stored.refreshToken, !token.isEmpty,
            server.honours(Int(named: token))
        {
            fail(.health, "p\(process + 1) ends \(session.rawValue), and the store holds \(stored.story)")
        }
        if let token = before.refreshToken, server.honours(Int(named: token)) {
            fail(.health, "p\(process + 1) ends \(session.rawValue), and holds \(token) itself")
        }
    }

    // MARK: The store

    /// A bundle has been written.
    mutating func landed(_ bundle: TokenBundle, _ process: Int) {
        let family = Int(named: bundle.session.rawValue)
        if server.families[family].isRetired, plan.sharing != .unguarded {
            fail(.revival, "p\(process + 1) stores \(bundle.story)")
        }
        server.noteStored(bundle.grant, by: process)
    }

    // MARK: Growth

    /// How many alarms a machine may have set.
    private static let timerLimit = 12

    private mutating func judgeTimers(_ process: Int) {
        let count = processes[process].alarms.count
        if count > Self.timerLimit { fail(.growth, "p\(process + 1) has set \(count) alarms:", "timers") }
    }
}
