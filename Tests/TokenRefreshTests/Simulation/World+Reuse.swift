import AuthInterface

@testable import TokenRefresh

/// Damage that one process does to another: the second use of a refresh token, and the deletion of a sign-in.
extension World {
    /// Whether a call with a refresh token has not ended. A call of a process that was killed has.
    func isUnderWay(_ call: Call, with token: Int, of process: Int) -> Bool {
        call.token == token && !call.isOrphan && plan.server.rotates
    }

    /// Whether the response of an exchange is lost, or its owner has released the lease and the longest call would be
    /// over.
    func isExplained(_ exchange: AuthorizationServer.Exchange) -> Bool {
        switch exchange.fate {
        case .lost, .crashed: return true
        case .underWay, .received: break
        }
        guard exchange.isUnguarded else { return false }
        if plan.rates.clockJumps > 0 || now - exchange.since >= plan.policy.longestCall.milliseconds { return true }
        return plan.tolerance != .none
    }

    /// Whether a call was made without the lease, where the server tolerates a second one. It cannot know that the
    /// successor is being stored.
    func isTolerated(_ call: Call) -> Bool { call.isUnguarded && plan.tolerance != .none }

    /// G8, G12. A refresh token is used again only after a response that no process can have.
    mutating func checkReuse(_ call: Call) {
        guard server.isReuse(call.token, key: call.key, at: now) else { return }
        let grant = server.grants[call.token]
        let family = server.families[grant.family]
        // After a sign-out or another sign-in no user misses the session.
        guard !family.isLoggedOut, !family.isRetired, !family.isDamaged else { return }
        if plan.server.honoursKeys, plan.server.revokesOnReuse {
            fail(.keys, "p\(call.process + 1) uses r\(call.token) again, with another key than before")
        }
        // The call of a process that was killed, or has left the session, may arrive after a call that was made since.
        guard !call.isOrphan, !call.isAbandoned, processes[call.process].current?.bundle.session == call.base.session
        else {
            return
        }
        for exchange in grant.exchanges where !isExplained(exchange) && !isTolerated(call) {
            guard let newest = processes[exchange.process].newest, newest.session == call.base.session else { continue }
            let text = "p\(call.process + 1) uses r\(call.token) again,"
            if call.rivals.contains(exchange.call) || exchange.call > call.number {
                fail(.reuse, text, "while the first call is still under way")
            } else if newest.grant <= call.token {
                fail(.reuse, text, "although a living process has received its successor and dropped it")
            } else if isExcused(exchange.process, newest.token) {
                fail(.reuse, text, "while a living process holds tokens that the store does not")
            } else {
                fail(.reuse, text, "while a living process is storing its successor")
            }
        }
    }

    /// A sign-out, or another end of a session, removes that session and what it was to replace.
    mutating func checkDeletion(_ process: Int, of old: TokenBundle) {
        let family = Int(named: old.session.rawValue)
        guard server.families[family].process != process, !server.families[family].isLoggedOut,
            !server.families[family].isDamaged,
            let ended = processes[process].notes.ended
        else { return }
        let text = "p\(process + 1) deletes \(old.traceText)"
        if family >= ended.logins {
            fail(.otherSignIn, text, "which came after the sign-out")
        } else if let session = ended.session, let begun = processes[process].notes.begun,
            begun.session == session, family >= begun.logins
        {
            fail(.otherSignIn, text, "which came after the sign-in of the session that ended")
        }
    }
}
