import AuthInterface

@testable import TokenRefresh

// Texts of the trace of a failing run. Events and actions are shown as the language prints them.

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

extension WriteOutcome {
    var traceText: String {
        switch self {
        case .written(let replaced): "written over \(replaced?.traceText ?? "nothing")"
        case .superseded(let found): "superseded by \(found.traceText)"
        case .failed(let error): "failed: \(error.code)"
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
