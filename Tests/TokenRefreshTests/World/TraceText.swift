import AuthInterface

@testable import TokenRefresh

// The texts of events and actions in the trace of a failing run.

extension TokenBundle {
    var traceText: String {
        let intent = refreshIntent.map { " intent of \($0.owner)\($0.isAbandoned ? ", given up" : "")" } ?? ""
        return "\(session.rawValue) g\(generation) (\(accessToken), \(refreshToken ?? "no refresh token")\(intent))"
    }
}

extension SessionToken {
    var traceText: String { "\(session.rawValue) g\(generation) (\(value))" }
}

extension StoredSession {
    var traceText: String {
        switch self {
        case .empty: "nothing"
        case .active(let bundle): bundle.traceText
        case .tombstone(let end): "the end of \(end.session.rawValue) as \(end.reason)"
        }
    }
}

extension Result<StoredSession, TokenStoreError> {
    fileprivate var traceText: String {
        switch self {
        case .success(let found): found.traceText
        case .failure(let error): "\(error.code)"
        }
    }
}

extension StoreContent {
    fileprivate var traceText: String {
        switch self {
        case .bundle(let bundle, .exactly(let other)): "\(bundle.traceText) over exactly \(other.traceText)"
        case .bundle(let bundle, let over): "\(bundle.traceText) over \(over)"
        case .tombstone(let reason, _, let scope): "the end as \(reason) of \(scope)"
        }
    }
}

extension WriteOutcome {
    var traceText: String {
        switch self {
        case .written(let replaced): "written over \(replaced?.traceText ?? "nothing")"
        case .superseded(let found): "superseded by \(found.traceText)"
        case .failed(let error): "failed: \(error.code)"
        }
    }
}

extension CallerRequest {
    fileprivate var traceText: String {
        if case .replacement(let refusal) = self {
            return "was refused with \(refusal.token.traceText) by \(refusal.endpoint ?? "?")"
        }
        return "asks: \(self)"
    }
}

extension RefreshEvent {
    var traceText: String {
        switch self {
        case .requested(let request, let waiter): "#\(waiter.number) \(request.traceText)"
        case .waiterCancelled(let waiter): "#\(waiter.number) leaves"
        case .signIn(_, let session, let waiter): "#\(waiter.number) signs in as \(session.rawValue)"
        case .stepUp(let tokens, _, let waiter): "#\(waiter.number) steps up to \(tokens.accessToken)"
        case .signOut(let reason, let waiter): "#\(waiter.number) signs out as \(reason)"
        case .serverDateNoted(let date): "the server's clock says \(date)"
        case .storeChanged: "the store has changed"
        case .suspensionNear: "a suspension is near"
        case .read(let purpose, let result, let mayCall):
            "read for \(purpose): \(result.traceText)\(mayCall ? ", whose owner may be calling" : "")"
        case .leased(let id, _): "leased for \(id.number)"
        case .leaseFailed(let id, let error): "no lease for \(id.number): \(error.code)"
        case .leaseHeld(let holder): "the lease is held by \(holder)"
        case .leaseLost(let id): "the lease of \(id.number) is lost"
        case .callNotMade(let id, let error): "call \(id.number) is not made: \(error)"
        case .responded(let id, let base, .success(let tokens)):
            "response \(id.number) from \(base.traceText): \(tokens.accessToken), \(tokens.refreshToken ?? "no refresh token")"
        case .responded(let id, let base, .failure(let error)): "response \(id.number) from \(base.traceText): \(error)"
        case .journalRead(let result): "journal read: \(result)"
        case .journalWrote(let result): "journal written: \(result)"
        case .wrote(let version, let outcome): "write \(version): \(outcome.traceText)"
        case .timerFired(let timer): "timer \(timer)"
        }
    }
}

extension RefreshResponse {
    var traceText: String {
        switch self {
        case .token(let token): token.traceText
        case .state(let state): "\(state)"
        case .done: "done"
        case .failed(let error): error.code.rawValue
        case .cancelled: "cancelled"
        }
    }
}

extension RefreshAction {
    /// What the machine decided; `nil` for actions that repeat others.
    var traceText: String? {
        switch self {
        case .read(let purpose): "read for \(purpose)"
        case .lease(let id): "lease \(id.number)"
        case .write(let version, let content): "write \(version): \(content.traceText)"
        case .readJournal: "read the journal"
        case .writeJournal(let edit): "write the journal: \(edit.notes)"
        case .release(let id): "release \(id.number)"
        case .call(let id, let base, let request, _):
            "call \(id.number) from \(base.traceText) with \(request.refreshToken), key \(request.idempotencyKey.prefix(4))"
        case .cancelCall(let id): "cancel call \(id.number)"
        case .revoke(let bundle, let besideAnother):
            "revoke \(bundle.traceText)\(besideAnother ? " beside another" : "")"
        case .respond(let waiter, let response): "#\(waiter.number) \(response.traceText)"
        case .publish(let state): "state \(state)"
        case .startTimer, .stopTimer, .withdrawCall, .releaseKey: nil
        case .report(let event): "report \(event)"
        }
    }
}
