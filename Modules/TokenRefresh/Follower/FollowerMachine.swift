import AuthInterface
import ConcurrencyPrimitives

/// The rules of a follower (G29): a pure state machine, without tasks, clocks or locks.
///
/// It ends a session only with the owner's ending. A token that has expired or was refused, and a source that cannot be
/// read, make it wait for the owner, and then fail as unavailable.
struct FollowerMachine: Sendable {
    private enum State {
        /// Nothing was read or handed in yet.
        case unknown
        case following(FollowedTokens)
        case signedOut(SignOutReason)
    }

    private let policy: FollowerPolicy
    private let hasSource: Bool
    private var clock: MachineClock
    private var state = State.unknown
    private var mark = FollowedMark()
    private var check = StoreCheck()
    /// Why the last read failed.
    private var failure: TokenStoreError?
    /// The requests that wait, in the order in which they came.
    private var waiting: [Waiter] = []
    /// When the request that has waited for the longest time fails: what the timer is set to.
    private var waitEnd: Duration?
    private var actions: [FollowerAction] = []

    init(policy: FollowerPolicy, hasSource: Bool) {
        (self.policy, self.hasSource) = (policy, hasSource)
        // It makes no call, so it has no name and no tolerance.
        let settings = MachineSettings(
            policy: policy.expiry, isShared: true, owner: ProcessIdentity(host: "", process: ""), tolerance: .none)
        clock = MachineClock(settings: settings)
    }

    /// The state as it was published.
    var published: SessionState {
        switch state {
        case .unknown: .unknown
        case .following(let tokens): .signedIn(tokens.session)
        case .signedOut(let reason): .signedOut(reason)
        }
    }

    /// The tokens in use.
    var current: FollowedTokens? { if case .following(let tokens) = state { tokens } else { nil } }

    /// The token of a request that does not have to wait.
    func readyToken(at uptime: Duration) -> SessionToken? { current?.readyToken(at: uptime) }

    mutating func handle(_ event: FollowerEvent, at now: Instant) -> [FollowerAction] {
        clock.advance(to: now)
        switch event {
        case .requested(let request, let id): requested(request, id)
        case .waiterCancelled(let id): cancel(id)
        case .changed: read(isChange: true)
        case .readIsLate(let error): readIsLate(error)
        case .read(let result): wasRead(result)
        case .given(let content): if isNewer(content) { adopt(content) }
        case .serverDateNoted(let date): if clock.note(serverDate: date) { serverClockKnown() }
        case .timerFired(.bundleWait): waitEnded()
        case .timerFired(.polling): read(isChange: false)
        }
        setTimer()
        defer { actions = [] }
        return actions
    }

    // MARK: Requests

    private mutating func requested(_ request: CallerRequest, _ id: WaiterID) {
        if let response = response(to: request) {
            actions.append(.respond(id, response))
            // The disk of the place may not have been there.
            if case .signedOut(.never) = state { read(isChange: false) }
            return
        }
        if waiting.isEmpty { actions.append(.bundleNeeded) }
        waiting.append(Waiter(id: id, request: request, since: clock.uptime))
        read(isChange: false)
    }

    private mutating func cancel(_ id: WaiterID) {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return }
        waiting.remove(at: index)
        actions.append(.respond(id, .cancelled))
    }

    /// The response to a request; `nil` while it has to wait for the owner.
    private mutating func response(to request: CallerRequest) -> RefreshResponse? {
        switch (state, request) {
        case (.unknown, _): nil
        case (_, .restore), (_, .refresh), (_, .settle): .state(published)
        case (.signedOut, .token): .failed(AuthenticationError(.notSignedIn))
        case (.signedOut, .replacement): .failed(AuthenticationError(.sessionEnded))
        case (.following, .token): takeToken()
        case (.following(let tokens), .replacement(let refusal)):
            if refusal.token.session != tokens.session {
                .failed(AuthenticationError(.sessionEnded))
            } else {
                refusal.token.value == tokens.token.value ? nil : takeToken()
            }
        }
    }

    private mutating func takeToken() -> RefreshResponse? {
        guard case .following(var tokens) = state else { return nil }
        defer { state = .following(tokens) }
        return tokens.takeToken(at: clock.uptime).map { .token($0) }
    }

    /// Responds to the requests that do not have to wait any more.
    private mutating func respond() {
        guard !waiting.isEmpty else { return }
        let all = waiting
        waiting = all.filter { wait in
            guard let response = response(to: wait.request) else { return true }
            actions.append(.respond(wait.id, response))
            return false
        }
    }

    private mutating func waitEnded() {
        waitEnd = nil
        fail(waiting.prefix { $0.since + policy.bundleWait <= clock.uptime }.count)
    }

    /// The first requests that wait fail: the owner has left them without a token. The session is kept.
    private mutating func fail(_ count: Int) {
        let error = unavailable
        for wait in waiting.prefix(count) { actions.append(.respond(wait.id, .failed(error))) }
        waiting.removeFirst(count)
    }

    private mutating func setTimer() {
        let end = waiting.first.map { $0.since + policy.bundleWait }
        guard end != waitEnd else { return }
        waitEnd = end
        actions.append(end.map { .startTimer(.bundleWait, at: $0) } ?? .stopTimer(.bundleWait))
    }

    private var unavailable: AuthenticationError {
        if let failure { return AuthenticationError(.storeUnavailable, retryAfter: policy.polling, cause: failure) }
        let reason = "the owner of the session has given no newer token within \(policy.bundleWait.inWords)"
        return AuthenticationError(.refreshUnavailable, cause: TokenRefreshError(.unavailable, reason: reason))
    }

    // MARK: What the owner has stored

    private mutating func read(isChange: Bool) {
        guard hasSource, isChange ? check.changeReported() : !check.isUnderWay else { return }
        check.begin()
        actions.append(.read)
    }

    private mutating func wasRead(_ result: StoreResult) {
        _ = check.end()
        switch result {
        case .success(let content):
            failure = nil
            adopt(content)
        case .failure(let error):
            failure = error
            actions.append(.startTimer(.polling, at: clock.uptime + policy.polling))
            failRestoring()
        }
        if check.mustRepeat { read(isChange: true) }
    }

    /// Another read before the end of this one would be one more that hangs.
    private mutating func readIsLate(_ error: TokenStoreError) {
        failure = error
        failRestoring()
    }

    /// A source that cannot be read now leaves everything as it is (G14). Who asks for the first state is told at once.
    private mutating func failRestoring() { if case .unknown = state { fail(waiting.count) } }

    /// Whether content that is handed in comes after what was seen.
    private func isNewer(_ content: StoredSession) -> Bool {
        switch content {
        case .active(let bundle): mark.admits(bundle, after: current?.bundle)
        case .tombstone(let tombstone): mark.admits(tombstone)
        case .empty: true
        }
    }

    /// What a source holds now is the owner's word, whatever was seen before. An empty one ends no session.
    private mutating func adopt(_ content: StoredSession) {
        switch content {
        case .active(let bundle):
            mark.record(bundle)
            if let current, current.bundle.hasSameTokens(as: bundle.withoutRefreshToken) { return }
            change(to: .following(FollowedTokens(bundle, after: current, clock)))
        case .tombstone(let tombstone):
            guard mark.end != tombstone else { return }
            mark.record(tombstone)
            var reason = tombstone.reason
            // A tombstone that is too old counts as nothing, for a process that starts.
            if case .unknown = state, content.current(at: clock.now.date) == .empty { reason = .never }
            change(to: .signedOut(reason))
        case .empty: if case .unknown = state { change(to: .signedOut(.never)) }
        }
    }

    /// Requests that wait are looked at again: without a change, none of them would get another response.
    private mutating func change(to new: State) {
        let before = published
        state = new
        if published != before { actions.append(.publish(published)) }
        respond()
    }

    private mutating func serverClockKnown() {
        guard var tokens = current else { return }
        tokens.serverClockKnown(clock)
        state = .following(tokens)
        respond()
    }
}
