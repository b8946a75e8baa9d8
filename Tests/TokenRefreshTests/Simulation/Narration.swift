import AuthInterface

@testable import TokenRefresh

// How the events of a failing run are written down.

extension TokenBundle {
    var story: String { "\(session.rawValue) g\(generation) (\(accessToken), \(refreshToken ?? "no refresh token"))" }
}

extension SessionToken {
    var story: String { "\(session.rawValue) g\(generation) (\(value))" }
}

extension Result<TokenBundle?, TokenStoreError> {
    fileprivate var story: String {
        switch self {
        case .success(let found): found?.story ?? "nothing"
        case .failure(let error): "\(error.code)"
        }
    }
}

extension StoreContent {
    fileprivate var story: String {
        switch self {
        case .bundle(let bundle, let over): "\(bundle.story) over \(over)"
        case .nothing(let session): "nothing of \(session?.rawValue ?? "anybody")"
        }
    }
}

extension RefreshEvent {
    var story: String {
        switch self {
        case .tokenAsked(let waiter): "#\(waiter.number) asks"
        case .tokenRefused(let token, let waiter): "#\(waiter.number) was refused with \(token.story)"
        case .restoreAsked(let waiter): "#\(waiter.number) restores"
        case .waiterCancelled(let waiter): "#\(waiter.number) leaves"
        case .signIn(_, let session, let waiter): "#\(waiter.number) signs in as \(session.rawValue)"
        case .signOut(let waiter): "#\(waiter.number) signs out"
        case .serverDateNoted(let date): "the server's clock says \(date)"
        case .loaded(let result): "loaded \(result.story)"
        case .leased(let id): "leased for \(id.number)"
        case .leaseFailed(let id, let error): "no lease for \(id.number): \(error.code)"
        case .reread(let id, let result): "reread for \(id.number): \(result.story)"
        case .answered(let id, let base, .success(let tokens)):
            "answer \(id.number) from \(base.story): \(tokens.accessToken), \(tokens.refreshToken ?? "no refresh token")"
        case .answered(let id, let base, .failure(let error)): "answer \(id.number) from \(base.story): \(error)"
        case .wrote(let version, .superseded(let found)): "write \(version) superseded by \(found?.story ?? "nothing")"
        case .wrote(let version, let outcome): "write \(version): \(outcome)"
        case .timerFired(let timer): "alarm \(timer)"
        }
    }
}

extension RefreshAnswer {
    var story: String {
        switch self {
        case .token(let token): token.story
        case .state(let state): "\(state)"
        case .done: "done"
        case .failed(let error): error.code.rawValue
        case .cancelled: "cancelled"
        }
    }
}

extension RefreshAction {
    /// What the machine decided; `nil` for what only repeats something else.
    var story: String? {
        switch self {
        case .load: "load"
        case .lease(let id): "lease \(id.number)"
        case .reread(let id): "reread \(id.number)"
        case .write(let version, let content): "write \(version): \(content.story)"
        case .release(let id): "release \(id.number)"
        case .call(let id, let base, let token): "call \(id.number) from \(base.story) with \(token)"
        case .cancelCall(let id): "cancel call \(id.number)"
        case .revoke(let bundle): "revoke \(bundle.story)"
        case .answer(let waiter, let answer): "#\(waiter.number) \(answer.story)"
        case .publish(let state): "state \(state)"
        case .startTimer, .stopTimer: nil
        case .report(let event): "report \(event)"
        }
    }
}
