import AuthInterface
import ConcurrencyPrimitives
import Foundation
import Testing

@testable import TokenRefresh

/// A machine, two clocks, and methods that send events; each returns the machine's decisions as text.
///
/// ```
/// var script = MachineScript.signedIn()
/// #expect(script.refused(1, generation: 0) == ["call g0"])
/// ```
struct MachineScript {
    static let start: Date = Date(timeIntervalSince1970: 1_800_000_000)

    var machine: RefreshStateMachine
    var uptime: Duration = .seconds(1_000)
    var date: Date = start
    /// How much of the uptime the device has slept.
    var asleep: Duration = .zero
    var timers: [RefreshTimer: Duration] = [:]
    var events: [SessionEvent] = []
    private(set) var responses: [Int: RefreshResponse] = [:]
    /// Whether an intent is stored as soon as the machine writes it, and left out of the texts.
    var recordsIntents = true
    typealias OpenCall = (id: AttemptID, base: TokenBundle)

    /// The last call, which may be responded to later than others.
    private(set) var call: OpenCall?
    private(set) var lastRequest: TokenRefreshRequest?
    /// When no byte of the last call may be written any more.
    private(set) var lastStart: Duration = .zero
    /// The calls that were withdrawn because their session has ended.
    private(set) var withdrawn: [AttemptID] = []
    private var attempt = AttemptID(number: 0)
    private(set) var lastWrite = 0
    private(set) var lastContent: StoreContent?
    private let isShared: Bool

    init(
        policy: TokenRefreshPolicy = .init(), isShared: Bool = false, tolerance: ReplayTolerance = .none,
        needsRefreshToken: Bool = true, hasJournal: Bool = false
    ) {
        self.isShared = isShared
        let settings = MachineSettings(
            policy: policy, isShared: isShared, owner: ProcessIdentity(host: "host", process: "p1"),
            tolerance: tolerance, needsRefreshToken: needsRefreshToken, hasJournal: hasJournal)
        machine = RefreshStateMachine(settings: settings, random: RandomSource(seeded: SplitMix64(seed: 7)))
    }

    // MARK: Requests

    mutating func send(_ event: RefreshEvent) -> [String] {
        let actions = machine.handle(event, at: Instant(uptime: uptime, date: date, asleep: asleep))
        for action in actions { note(action) }
        var texts: [String] = []
        var intents: [Int] = []
        for action in actions {
            if recordsIntents, case .write(let version, .bundle(let bundle, _)) = action,
                bundle.refreshIntent?.isAbandoned == false
            {
                intents.append(version)
            } else if let text = action.text {
                texts.append(text)
            }
        }
        for version in intents { texts += send(.wrote(version: version, .written(replaced: nil))) }
        return texts
    }

    // Where a request or a response comes `after` some time, what timers do until then is left out of the texts. Where
    // it says `isStored`, the write under way then succeeds or fails.

    /// `serverDate`: noted before.
    mutating func ask(_ waiter: Int, after time: Duration? = nil, serverDate: Date? = nil) -> [String] {
        wait(time)
        if let serverDate { _ = send(.serverDateNoted(serverDate)) }
        return send(.requested(.token, WaiterID(number: waiter)))
    }

    /// A caller requests a refresh. `reading`: what a shared store holds under the lease.
    mutating func refresh(_ waiter: Int, after time: Duration? = nil, reading bundle: TokenBundle? = nil) -> [String] {
        wait(time)
        return underLease(send(.requested(.refresh, WaiterID(number: waiter))), reading: bundle)
    }

    private mutating func underLease(_ texts: [String], reading bundle: TokenBundle?) -> [String] {
        guard isShared, let bundle else { return texts }
        #expect(texts == ["lease"])
        return leased(reading: bundle)
    }

    mutating func restore(_ waiter: Int) -> [String] { send(.requested(.restore, WaiterID(number: waiter))) }

    /// The token of a generation, as the machine returns it now.
    func token(_ generation: Int, of user: String = "ada") -> SessionToken {
        let session = SessionID(rawValue: user)
        if let ready = machine.ready?.token(at: uptime), ready.generation == generation, ready.session == session {
            return ready
        }
        return SessionToken(value: "access-\(user)-\(generation)", session: session, generation: generation)
    }

    mutating func refused(
        _ waiter: Int, generation: Int, of user: String = "ada", after time: Duration? = nil,
        reading bundle: TokenBundle? = nil
    ) -> [String] {
        wait(time)
        return underLease(refused(waiter, TokenRefusal(of: token(generation, of: user))), reading: bundle)
    }

    mutating func refused(_ waiter: Int, _ refusal: TokenRefusal, after time: Duration? = nil) -> [String] {
        wait(time)
        return send(.requested(.replacement(refusal), WaiterID(number: waiter)))
    }

    mutating func cancel(_ waiter: Int) -> [String] { send(.waiterCancelled(WaiterID(number: waiter))) }

    mutating func signIn(
        _ waiter: Int, as user: String, lifetime: Duration? = .seconds(3_600), refreshToken: String? = nil,
        isStored: Bool? = nil
    ) -> [String] {
        let tokens = TokenRefreshResult(
            accessToken: "access-\(user)-0", refreshToken: refreshToken ?? (user == "ada" ? nil : "refresh-\(user)-0"),
            expiresIn: lifetime)
        return signIn(waiter, as: user, with: tokens, isStored: isStored)
    }

    mutating func signIn(
        _ waiter: Int, as user: String, with tokens: TokenRefreshResult, isStored: Bool? = nil
    ) -> [String] {
        send(.signIn(tokens, SessionID(rawValue: user), WaiterID(number: waiter))) + wrote(isStored)
    }

    /// A step-up, or a sign-in of the session "new" where it is none.
    mutating func stepUp(
        _ waiter: Int, with tokens: TokenRefreshResult = .issued("high", of: .ada), isStored: Bool? = nil
    ) -> [String] {
        send(.stepUp(tokens, SessionID(rawValue: "new"), WaiterID(number: waiter))) + wrote(isStored)
    }

    mutating func signOut(_ waiter: Int, _ reason: SignOutReason = .byUser, isStored: Bool? = nil) -> [String] {
        send(.signOut(reason, WaiterID(number: waiter))) + wrote(isStored)
    }

    mutating func settle(_ waiter: Int) -> [String] { send(.requested(.settle, WaiterID(number: waiter))) }

    // MARK: Responses

    /// The handler responds to a call, the last one if no other is named, with the next generation or with an error.
    mutating func respond(
        _ error: TokenRefreshError? = nil, lifetime: Duration? = .seconds(3_600), accessToken: String? = nil,
        call: OpenCall? = nil, after time: Duration? = nil, isStored: Bool? = nil
    ) -> [String] {
        wait(time)
        if let error { return respond(.failure(error), to: call, isStored) }
        guard let base = (call ?? self.call)?.base else { return ["no call"] }
        let name = "\(base.session.rawValue)-\(base.generation + 1)"
        let result = TokenRefreshResult(
            accessToken: accessToken ?? "access-\(name)", refreshToken: "refresh-\(name)", expiresIn: lifetime)
        return respond(.success(result), to: call, isStored)
    }

    mutating func respond(_ result: TokenRefreshResult, call: OpenCall? = nil, isStored: Bool? = nil) -> [String] {
        respond(.success(result), to: call, isStored)
    }

    private mutating func respond(_ result: CallResult, to call: OpenCall?, _ isStored: Bool?) -> [String] {
        guard let call = call ?? self.call else { return ["no call"] }
        return send(.responded(call.id, base: call.base, result)) + wrote(isStored)
    }

    /// The server rejects the refresh token of the last call, and the store is read.
    mutating func rejected(reading bundle: TokenBundle = .stored("ada", 0)) -> [String] {
        #expect(respond(.rejected) == ["reread"])
        return reread(bundle)
    }

    /// No byte of the last call was written.
    mutating func notMade(_ error: TokenRefreshError = .unavailable) -> [String] {
        call.map { send(.callNotMade($0.id, error)) } ?? ["no call"]
    }

    mutating func leased(_ identity: String? = nil) -> [String] { send(.lease(.taken(attempt, identity: identity))) }

    /// The attempt gets the lease, and the store is read for it.
    mutating func leased(reading result: StoreResult, ownerMayCall: Bool = false) -> [String] {
        #expect(leased() == ["reread"])
        return reread(result, ownerMayCall: ownerMayCall)
    }

    mutating func leased(reading bundle: TokenBundle, ownerMayCall: Bool = false) -> [String] {
        leased(reading: .success(.active(bundle)), ownerMayCall: ownerMayCall)
    }

    mutating func leaseFailed() -> [String] { send(.lease(.failed(attempt, .busy))) }

    /// The store is read for the attempt under way. `ending`: why its tokens are to end, as the journal says.
    mutating func reread(_ result: StoreResult, ownerMayCall: Bool = false, ending: SignOutReason? = nil) -> [String] {
        send(.read(.attempt(attempt), StoreReading(result: result, ending: ending), ownerMayCall: ownerMayCall))
    }

    mutating func reread(_ bundle: TokenBundle, ownerMayCall: Bool = false) -> [String] {
        reread(.success(.active(bundle)), ownerMayCall: ownerMayCall)
    }

    /// The first read of the store has ended. `noted`: the highest ordinal in the journal.
    mutating func loaded(
        _ result: StoreResult, ending: SignOutReason? = nil, noted: SessionOrdinal? = nil
    ) -> [String] {
        send(.read(.load, StoreReading(result: result, ending: ending, noted: noted), ownerMayCall: false))
    }

    mutating func checked(_ content: StoredSession, ending: SignOutReason? = nil) -> [String] {
        send(.read(.check, StoreReading(result: .success(content), ending: ending), ownerMayCall: false))
    }

    /// The store, or the journal beside it, reports a change, and is read.
    mutating func changed(to content: StoredSession, ending: SignOutReason? = nil) -> [String] {
        #expect(send(.storeChanged) == ["check"])
        return checked(content, ending: ending)
    }

    /// The store is read before a sign-in, or a sign-out, takes its ordinal.
    mutating func readOrder(_ result: StoreResult, noted: SessionOrdinal? = nil) {
        #expect(send(.read(.order, StoreReading(result: result, noted: noted), ownerMayCall: false)) == [])
    }

    mutating func checkFails(_ code: TokenStoreError.Code = .unavailable) -> [String] {
        let reading = StoreReading(result: .failure(TokenStoreError(code, reason: "scripted")))
        return send(.read(.check, reading, ownerMayCall: false))
    }

    /// A write has ended: the last one, if no other version is named.
    mutating func wrote(_ outcome: WriteOutcome = .written(replaced: nil), version: Int? = nil) -> [String] {
        send(.wrote(version: version ?? lastWrite, outcome))
    }

    private mutating func wrote(_ isStored: Bool?) -> [String] {
        isStored.map { $0 ? wrote() : storeFails() } ?? []
    }

    /// The handler responds with the next generation, and that is stored.
    mutating func finish(lifetime: Duration? = .seconds(3_600), after time: Duration? = nil) -> [String] {
        _ = respond(lifetime: lifetime, after: time)
        return wrote()
    }

    mutating func storeFails() -> [String] { wrote(.failed(.locked)) }

    // MARK: What is seen of it

    var state: String { machine.published.text }
    var key: String? { lastRequest?.idempotencyKey }
    var lastIntent: RefreshIntent? { lastContent?.bundle?.refreshIntent }

    func given(_ waiter: Int) -> SessionToken? {
        if case .token(let token)? = responses[waiter] { token } else { nil }
    }

    /// Whether the last write replaces what it finds.
    func replaces(_ found: StoredSession) -> Bool { lastContent?.replacement(for: .success(found)) != nil }
    func replaces(_ found: TokenBundle) -> Bool { replaces(.active(found)) }

    // MARK: Time

    /// Time passes on both clocks; timers that are due fire in order.
    mutating func pass(_ duration: Duration, isStored: Bool? = nil) -> [String] {
        let end = uptime + duration
        var texts: [String] = []
        while let next = timers.filter({ $0.value <= end }).min(by: { $0.value < $1.value }) {
            move(to: max(next.value, uptime))
            timers[next.key] = nil
            texts += send(.timerFired(next.key))
        }
        move(to: end)
        return texts + wrote(isStored)
    }

    /// Nothing happens for some time, and then, within some more, what is returned.
    mutating func pass(_ quiet: Duration, then rest: Duration) -> [String] {
        #expect(pass(quiet) == [])
        return pass(rest)
    }

    /// Time passes until the token in use is refreshed in the background.
    mutating func passToAhead() -> [String] {
        guard let start = machine.current?.expiry.aheadFrom else { return ["no expiry"] }
        return pass(start - uptime)
    }

    /// The process sleeps: the timers that are due meanwhile fire when it continues.
    mutating func sleep(_ duration: Duration) -> [String] {
        move(to: uptime + duration)
        return pass(.zero)
    }

    private mutating func wait(_ time: Duration?) { if let time { _ = pass(time) } }

    private mutating func move(to instant: Duration) {
        date += (instant - uptime) / .seconds(1)
        uptime = instant
    }

    private mutating func note(_ action: RefreshAction) {
        switch action {
        case .withdrawCall(let id): withdrawn.append(id)
        case .respond(let waiter, let response): responses[waiter.number] = response
        case .call(let id, let base, let request, let startBefore):
            call = (id, base)
            lastStart = startBefore
            attempt = id
            lastRequest = request
        case .lease(let id), .read(.attempt(let id)): attempt = id
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
