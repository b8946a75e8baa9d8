import ArgumentParser
import AuthInterface
import Composition
import Imaging
import NetworkCore
import NetworkTransfers
import OAuth2Flows

/// A failure as one line that says what to do, with an exit status.
struct Failure: Error {
    struct Response: Hashable {
        var status: Int?
        var code: String?
        var requestID: String?
    }

    let message: String
    let status: ExitStatus
    var response = Response()

    init(_ message: String, _ status: ExitStatus) {
        self.message = message.split(whereSeparator: \.isNewline).joined(separator: " ").withoutControls
        self.status = status
    }

    /// Converts any error. The text of an error of another package is not shown: it could contain a secret.
    /// `sessionHasEnded` tells it of a session without a refresh token, whose error does not (G22).
    init(_ error: any Error, sessionHasEnded: Bool = false) {
        switch error {
        case let failure as Failure: self = failure
        case let error as NetworkError: self.init(network: error, sessionHasEnded)
        case let error as AuthenticationError: self.init(authentication: error, sessionHasEnded)
        case let error as TokenStoreError: self.init(error.reason, .store)
        case let error as ImagingError: self.init(error.message, .unusableInput)
        case let error as ConfigurationError where error.isUsage:
            self.init("\(error); see 'articles \(ConnectionOptions.command) --help'", .usage)
        case let error as ConfigurationError: self.init(error.description, .configuration)
        case let error as OAuth2SignInError:
            let isLater = [.expired, .unavailable, .redirected].contains(error.code)
            self.init("\(error.reason); \(Self.signIn) again", isLater ? .tryLater : .refused)
        case is CancellationError: self.init("interrupted", .tryLater)
        default: self.init(other: error)
        }
    }

    static let signIn = "sign in with 'articles login'"

    private init(network error: NetworkError, _ hasEnded: Bool) {
        self = error.authentication.map { Self(authentication: $0, hasEnded) } ?? Self(unauthenticated: error)
        if response == Response() {
            response = Response(status: error.status, code: error.serverError?.code, requestID: error.requestID)
        }
    }

    private init(unauthenticated error: NetworkError) {
        switch error.code {
        case .connectionFailed, .timedOut, .tlsFailed, .transportFailed, .proxyRefused:
            let advice =
                error.code == .tlsFailed
                ? "check the server's certificate, the date of this machine, and proxies between them"
                : "check --base-url, or start a server with 'articles serve'"
            let url = error.request?.url ?? "the server"
            self.init("cannot reach \(url): \(error.reason ?? "\(error.code)"); \(advice)", .unreachable)
        case .fileFailed:
            self.init("\(error.reason ?? "the file cannot be written"); check its folder", .output)
        default:
            let details = (error.serverError?.errors ?? []).map { detail in
                [detail.field, detail.message].compactMap(\.self).joined(separator: ": ")
            }
            let list = details.isEmpty ? "" : "; \(details.joined(separator: "; "))"
            self.init(error.description + list, .refused)
        }
    }

    private init(authentication error: AuthenticationError, _ hasEnded: Bool) {
        let signIn = Self.signIn
        switch error.code {
        case .notSignedIn:
            self.init("not signed in; \(signIn)", .notSignedIn)
        case .sessionEnded where EnvironmentToken.isSet, .noRefreshToken where EnvironmentToken.isSet:
            self.init(EnvironmentToken.refusal, .notSignedIn)
        case .noRefreshToken where !hasEnded:
            self.init("the access token was refused, and there is no refresh token; \(signIn)", .refused)
        case .sessionEnded, .noRefreshToken:
            self.init("the session has ended; \(signIn)", .notSignedIn)
        case .storeUnavailable:
            self.init((error.cause as? TokenStoreError)?.reason ?? error.description, .store)
        case .signOutNotStored: self.init(error.description, .store)
        case .stepUpRequired:
            let demand = error.stepUp.map { " (\($0))" } ?? ""
            self.init("the server asks for another sign-in before it renews the session\(demand); \(signIn)", .refused)
        case .refreshUnavailable:
            self.init(error.description, .tryLater)
            guard let cause = error.cause as? TokenRefreshError else { return }
            response = Response(status: cause.status, code: cause.serverCode, requestID: cause.requestID)
        default:
            self.init(error.description, .refused)
        }
    }

    private init(other error: any Error) {
        guard ArticlesCommand.exitCode(for: error) == .validationFailure else {
            self.init("internal error: \(type(of: error)); please report it", .internalError)
            return
        }
        // "See 'articles show --help' for more information." names the subcommand.
        let full = ArticlesCommand.fullMessage(for: error)
        let found = full.firstMatch(of: /See '([^'\n]+)' for more/).map { String($0.1) }
        let known = ArticlesCommand.configuration.subcommands.contains {
            $0.configuration.commandName == ConnectionOptions.command
        }
        let help = found ?? (known ? "articles \(ConnectionOptions.command) --help" : "articles --help")
        let message = ArticlesCommand.message(for: error)
        // A suggestion, "Did you mean '--all'?", is a sentence of its own.
        self.init(message.hasSuffix("?") ? "\(message) See '\(help)'" : "\(message); see '\(help)'", .usage)
    }
}

/// The exit statuses, after `sysexits.h`. A command throws one when it has printed its failure.
struct ExitStatus: Error, Hashable {
    let rawValue: Int32

    static let success = ExitStatus(rawValue: 0)
    /// The server refused the request, or a claim of the demo does not hold.
    static let refused = ExitStatus(rawValue: 1)
    static let usage = ExitStatus(rawValue: 64)
    static let unusableInput = ExitStatus(rawValue: 65)
    static let missingInput = ExitStatus(rawValue: 66)
    static let unreachable = ExitStatus(rawValue: 69)
    static let internalError = ExitStatus(rawValue: 70)
    static let output = ExitStatus(rawValue: 73)
    static let store = ExitStatus(rawValue: 74)
    static let tryLater = ExitStatus(rawValue: 75)
    static let notSignedIn = ExitStatus(rawValue: 77)
    static let configuration = ExitStatus(rawValue: 78)
    /// As a shell reports the end by SIGPIPE.
    static let noReader = ExitStatus(rawValue: 141)
}
