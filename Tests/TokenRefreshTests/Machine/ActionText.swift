import AuthInterface

@testable import TokenRefresh

// The text of an action in the tables of `MachineScript`.

extension RefreshAction {
    /// The text of an action in a table. Timers and reports are stored beside it.
    var text: String? {
        switch self {
        case .read(.load): "load"
        case .read(.attempt): "reread"
        case .read(.check), .read(.order): "check"
        case .lease: "lease"
        case .write(_, .bundle(let bundle, _)) where bundle.refreshIntent?.failure != nil:
            "failed \(bundle.session.rawValue) g\(bundle.generation)"
        case .write(_, .bundle(let bundle, _)):
            switch bundle.refreshIntent?.isAbandoned {
            case false: "intent \(bundle.session.rawValue) g\(bundle.generation)"
            case true: "mark \(bundle.session.rawValue) g\(bundle.generation)"
            case nil: "save \(bundle.session.rawValue) g\(bundle.generation)"
            }
        case .write(_, .tombstone): "delete"
        case .release: "release"
        case .call(_, let base, _, _): "call g\(base.generation)"
        case .cancelCall: "cancel call"
        case .releaseKey(let binding): "release the key \(binding.thumbprint)"
        case .revoke(let bundle, let isBeside):
            "revoke \(isBeside ? "only " : "")\(bundle.session.rawValue) g\(bundle.generation)"
        case .respond(let waiter, let response): "\(waiter.number): \(response.text)"
        case .publish(let state): state.text
        case .startTimer, .stopTimer, .report, .withdrawCall: nil
        }
    }
}

extension RefreshResponse {
    var text: String {
        switch self {
        case .token(let token): "\(token.session.rawValue) g\(token.generation)"
        case .state(let state): state.text
        case .done: "done"
        case .failed(let error): error.code.rawValue
        case .cancelled: "cancelled"
        }
    }
}

extension SessionState {
    /// How the session has ended, where a server has refused its tokens.
    var ending: SessionEnding? { if case .signedOut(.expired(let ending)) = self { ending } else { nil } }

    var text: String {
        switch self {
        case .unknown: "unknown"
        case .signedIn(let session): "signed in \(session.rawValue)"
        case .signedOut(.never): "signedOut never"
        case .signedOut(.byUser): "signedOut byUser"
        case .signedOut(.expired): "signedOut expired"
        case .signedOut(.application(let text)): "signedOut \(text)"
        case .signedOut(.lost): "signedOut lost"
        }
    }
}
