import AuthInterface
import Foundation

@testable import TokenRefresh

/// What the authorization server does for the processes.
extension World {
    /// The lifetime that a client can believe, in milliseconds.
    var saidLifetime: Int? { plan.server.saysLifetime ? plan.server.lifetime : nil }

    mutating func respond(_ index: Int, _ draws: inout RandomDraws) {
        switch calls[index].phase {
        case .made, .sent: break
        case .responded(.rejected): deliver(.failure(.rejected), to: index)
        case .responded(.issued(let grant)): issue(grant, to: index, &draws)
        }
    }

    /// A cache responds to a call in place of the server, with the tokens of another user (G31).
    mutating func answerFromCache(_ index: Int) {
        let tokens = TokenRefreshResult(
            accessToken: Self.cachedToken, refreshToken: Self.cachedToken, expiresIn: .seconds(60),
            subject: server.fault == .subjectsAreNotSaid ? nil : AuthorizationServer.subject(of: "eve"))
        deliver(.success(tokens), to: index)
    }

    /// The tokens of another user, who is in no session here.
    static let cachedToken = "eve's"

    /// Notes a law that is broken where the tokens of another user are used, stored or revoked.
    mutating func checkSubject(_ bundle: TokenBundle?, _ process: Int, _ what: String) {
        guard let bundle, [bundle.accessToken, bundle.refreshToken].contains(Self.cachedToken) else { return }
        fail(.subject, "p\(process + 1) \(what) the tokens of another user in \(bundle.session.rawValue)")
    }

    mutating func end(_ index: Int) {
        let call = calls[index]
        if call.phase == .made { return endUnmade(index, because: "no connection") }
        if !call.isOrphan { server.noteFate(.lost, of: call) }
        // What has not reached the server yet may still do so.
        if case .sent = call.phase, !isDraining {
            var rest = call
            rest.isOrphan = true
            calls.append(rest)
        }
        deliver(.failure(.unavailable), to: index)
    }

    mutating func refuse(call index: Int, _ error: TokenRefreshError) {
        if calls[index].phase != .sent { server.noteFate(.lost, of: calls[index]) }
        deliver(.failure(error), to: index)
    }

    mutating func serve(_ index: Int) {
        let call = calls[index]
        checkReuse(call)
        let response = server.refresh(call.token, key: call.key, at: now)
        calls[index].phase = .responded(response)
        if case .issued = response {
            var exchange = AuthorizationServer.Exchange(call: call.number, process: call.process, since: call.since)
            exchange.isUnguarded = call.isUnguarded
            exchange.fate = call.isOrphan ? .crashed : call.isAbandoned ? .lost : .underWay
            if plan.server.rotates { server.grants[call.token].exchanges.append(exchange) }
        }
        if isTraced {
            note("server responds to p\(call.process + 1) for r\(call.token) \(call.key.prefix(4)): \(response)")
        }
    }

    /// The response arrives with new tokens, which may be unusable.
    private mutating func issue(_ grant: Int, to index: Int, _ draws: inout RandomDraws) {
        let call = calls[index]
        let isUnusable = !isDraining && draws.chance(plan.server.unusableTokens)
        if !call.isOrphan {
            if !call.isAbandoned { server.noteFate(.received, of: call) }
            keys[call.base.grant] = nil
        }
        let token = isUnusable ? draws.of(["", "a\(grant) ", "a\(grant)\n", "\u{E4}\(grant)"]) : "a\(grant)"
        let tokens = TokenRefreshResult(grant: grant, of: server, serverDate: serverDate, accessToken: token)
        deliver(.success(tokens), to: index)
    }

    mutating func deliver(_ result: CallResult, to index: Int) {
        let call = calls.remove(at: index)
        guard !call.isOrphan else { return }
        let (session, process) = (call.base.session, call.process)
        let current = processes[process].current?.bundle
        let isCurrent = current?.session == session
        switch result {
        case .success(let tokens) where tokens.accessToken == Self.cachedToken:
            noteFailure(.unavailable, on: call, isCurrent: isCurrent)
        case .success(let tokens):
            let new = tokens.refreshToken.map { $0 != call.base.refreshToken } ?? false
            if !isCurrent, new { noteRevocable(process, session) }
            if isCurrent, new { processes[process].notes.spent.insert(call.token) }
            guard tokens.accessToken.fitsHeaderField else { break }
            let grant = Int(named: tokens.accessToken)
            if isCurrent, processes[process].notes.received?.grant != grant,
                current?.generation == call.base.generation
            {
                processes[process].notes.received = (grant, min(firstCalls[call.key] ?? call.since, call.since))
            }
        case .failure(let error): noteFailure(error, on: call, isCurrent: isCurrent)
        }
        send(process, .responded(call.attempt, base: call.base, result))
    }

    private mutating func noteFailure(_ error: TokenRefreshError, on call: Call, isCurrent: Bool) {
        let session = call.base.session
        switch error.code {
        case .rejected where isCurrent:
            processes[call.process].notes.sawRejection = session
            processes[call.process].notes.wasAmbiguous = false
        case .ambiguous where isCurrent && plan.policy.ambiguity != .never:
            // It may be the one that counts: by rule 7 another process, or an earlier run, may have stored the first.
            processes[call.process].notes.sawRejection = session
            processes[call.process].notes.wasAmbiguous = true
        case .unavailable:
            let asked = min(error.retryAfter ?? .zero, plan.policy.maximumRetryAfter)
            // A step-up has left the call, and is a sign-in that has succeeded since.
            let isNeeded = call.base.refreshToken == processes[call.process].newest?.refreshToken
            if isCurrent, isNeeded, !call.isOverdue {
                processes[call.process].notes.pause = (session, now + asked.milliseconds)
            }
        default: break
        }
    }
}

extension TokenRefreshResult {
    /// What the server sends with a grant.
    init(grant: Int, of server: AuthorizationServer, serverDate: Date, accessToken: String? = nil) {
        let plan = server.plan
        let isSent = plan.givesRefreshTokens && (plan.rotates || server.grants[grant].generation == 0)
        self.init(
            accessToken: accessToken ?? "a\(grant)",
            refreshToken: isSent ? "r\(server.grants[grant].refresh)" : nil,
            expiresIn: plan.saysLifetime ? plan.lifetime.map { .milliseconds($0) } : nil,
            serverDate: plan.saysDate ? serverDate : nil,
            subject: plan.saysSubject
                ? AuthorizationServer.subject(of: server.families[server.grants[grant].family].user) : nil
        )
    }
}
