import AuthInterface

@testable import TokenRefresh

// Tokens in the trace of a failing run, which their descriptions hide. All else is shown as the language prints it.

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
