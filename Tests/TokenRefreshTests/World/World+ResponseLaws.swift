import AuthInterface

@testable import TokenRefresh

/// The laws of responses to callers.
extension World {
    mutating func noteResponse(_ process: Int, _ waiter: Int, _ response: RefreshResponse) {
        guard let index = processes[process].requests.firstIndex(where: { $0.waiter == waiter && $0.isWaiting }) else {
            return fail(.responses, "p\(process + 1) #\(waiter) did not wait and gets \(response.text)")
        }
        let request = processes[process].requests[index]
        checkKind(process, request, response)
        checkSignOut(process, request, response)
        guard case .token(let token) = response else {
            if request.kind == .refresh, case .failed(let error) = response {
                processes[process].retryAt = error.retryAfter.map { now + $0.milliseconds }
            }
            processes[process].requests.remove(at: index)
            return
        }
        processes[process].requests[index].phase = .carrying(token)
        processes[process].requests[index].session = token.session
        if case .replacement(let refused) = request.kind, refused.value == token.value {
            fail(.otherToken, "p\(process + 1) #\(waiter) is given the refused \(token) again")
        }
        checkToken(process, token, from: request.session)
    }

    mutating func checkToken(_ process: Int, _ token: SessionToken, from session: SessionID?) {
        if let session, session != token.session {
            fail(.fence, "p\(process + 1): \(token) for a request of \(session.rawValue)")
        }
        if !token.value.fitsHeaderField { fail(.usable, "p\(process + 1): \(token)") }
        if let current = processes[process].current, current.bundle.mark == token.mark,
            current.bundle.refreshToken != nil, current.expiry.urgency(at: instant.uptime) == .expired
        {
            fail(.expiredToken, "p\(process + 1): \(token)")
        }
        checkLife(process, token)
        let isExcused = processes[process].notes.excused.map { excused in
            excused.session == token.session
                && (excused.generation >= token.generation || excused.accessToken == token.value)
        }
        if !server.grants[Int(named: token.value)].wasStored, isExcused != true {
            fail(.persistence, "p\(process + 1): \(token) is nowhere but in memory")
        }
    }

    /// G19. A response may be late, slept through or a repetition: its token is as old as the server knows it to be.
    private mutating func checkLife(_ process: Int, _ token: SessionToken) {
        let grant = Int(named: token.value)
        // A response that cannot be used ends the key of its call. An earlier call with it may respond later.
        guard plan.server.unusableTokens == 0,
            let received = processes[process].notes.received, received.grant == grant, let lifetime = saidLifetime,
            processes[process].current?.bundle.refreshToken != nil
        else { return }
        let end = server.grants[grant].issuedAt + lifetime
        if now > end { fail(.life, "p\(process + 1): \(token) \(now - end) ms after its end") }
    }

    // MARK: Kinds of responses

    /// A caller gets a response of the kind that it has asked for.
    mutating func checkKind(_ process: Int, _ request: DeviceProcess.Request, _ response: RefreshResponse) {
        var text: String { "p\(process + 1) #\(request.waiter) \(request.kind) gets \(response.text)" }
        switch (request.kind, response) {
        case (_, .cancelled), (.token, .token), (.replacement, .token), (.refresh, .state(.signedIn)),
            (.refresh, .state(.signedOut)), (.signIn, .done), (.signOut, .done), (.settle, .done):
            break
        case (.restore, .state(let state)):
            if state != processes[process].announced { fail(.calls, "\(text) in place of the state") }
        case (_, .failed(let error)):
            if !Self.errors(of: request.kind).contains(error.code) { fail(.calls, "\(text) which it never may") }
            if error.retryAfter == nil, [.refreshUnavailable, .stepUpRequired, .unauthorized].contains(error.code) {
                fail(.calls, "\(text) without the time to wait")
            }
        default: fail(.calls, text)
        }
    }

    private static func errors(of kind: DeviceProcess.Request.Kind) -> [AuthenticationError.Code] {
        let ofRefresh: [AuthenticationError.Code] = [
            .noRefreshToken, .refreshUnavailable, .storeUnavailable, .stepUpRequired,
        ]
        return switch kind {
        case .token: ofRefresh + [.notSignedIn, .sessionEnded]
        case .replacement: ofRefresh + [.sessionEnded, .unauthorized]
        case .refresh: ofRefresh
        case .restore: [.storeUnavailable]
        case .signOut: [.storeUnavailable, .signOutNotStored]
        case .signIn, .settle: []
        }
    }

    /// G30. After a sign-out the tokens of its session are not stored, unless the journal says that they end.
    mutating func checkSignOut(_ process: Int, _ request: DeviceProcess.Request, _ response: RefreshResponse) {
        // A later sign-in replaces the tokens that the sign-out was to remove.
        guard case (.signOut, .done) = (request.kind, response), let session = request.session,
            processes[process].current == nil, let stored = store.content.bundle, stored.session == session,
            journal.entry.ending(of: stored) == nil
        else { return }
        fail(.signedOut, "p\(process + 1) #\(request.waiter) has signed out, and the tokens are stored")
    }
}
