import ArgumentParser
import ArticlesUI
import AuthInterface
import Composition
import ConcurrencyPrimitives
import DataAPI
import Foundation

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the session, or how the last session ended.",
        discussion: """
            Exit status: 0 signed in, or the session could not be verified; 74 the token store cannot be read; 77 not \
            signed in.
            """,
        examples: ["articles status", "articles status --json state,lastEnding"])

    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions<StatusObject>

    func run() async throws {
        try await connection.withGraph { graph in
            let console = output.console
            var status = StatusObject(graph.configuration)
            // The command only looks: tokens are refreshed if they must be.
            var outcome = try await graph.auth.autoLogin(refreshing: false)
            // The end of a session without a refresh token may not be stored yet.
            if case .undetermined = outcome { try? await graph.settle() }
            if case .signedOut(let reason) = graph.session.state { outcome = .signedOut(reason) }
            if graph.sharedStore != nil { status.storeIsWatched = await graph.storeReportsChanges() }
            var failure: Failure?
            if case .unknown = graph.session.state, case .undetermined(let error) = outcome { failure = Failure(error) }
            let line = failure == nil ? status.note(outcome) : status.state
            status.note(graph.report)
            for row in status.rows(line, console.time) {
                console.printRow(row) { "\($0[0].fitted(to: 9))\($0[1])" }
            }
            try console.printObject(status)
            if let failure {
                console.printError(failure)
                throw failure.status
            }
            if case .signedOut = outcome { throw ExitStatus.notSignedIn }
        }
    }
}

/// The status as `--json` prints it. The names are stable; an unknown value is left out.
struct StatusObject: Encodable, PrintedObject {
    static let fields = [
        "baseURL", "store", "state", "user", "problem", "expiresAt", "lastEnding", "refreshFailure", "storeFailure",
        "userAction", "storeIsWatched", "leaseHolder", "signOutIsPending", "journalFailure",
    ]

    struct Ending: Encodable {
        let reason: String
        var httpStatus: Int?
        var code: String?
        var requestId: String?
        var date: Date?
        var process: String?
        var store: String?
    }

    struct RefreshFailure: Encodable {
        let verdict: String
        let reason: String?
        let httpStatus: Int?
        let code: String?
        let requestId: String?
        let retryAfterSeconds: Double?
    }

    struct StoreFailure: Encodable {
        let code: String
        let reason: String
    }

    /// The process that keeps this one from refreshing (G24).
    struct Holder: Encodable {
        let process: String
        let host: String
        let since: Date?
    }

    let baseURL: String
    let store: String
    /// `signedIn`, `unverified`, `expired`, `signedOut` or `unknown`.
    private(set) var state = "unknown"
    private(set) var user: UserObject?
    private(set) var problem: String?
    private(set) var expiresAt: Date?
    private(set) var lastEnding: Ending?
    private(set) var refreshFailure: RefreshFailure?
    private(set) var storeFailure: StoreFailure?
    private(set) var userAction: String?
    /// Whether the store reports the changes of other processes at once. `nil`: no other process has it.
    var storeIsWatched: Bool?
    private(set) var leaseHolder: Holder?
    /// Whether the store may still hold the tokens of a session that has ended: the next start removes them.
    private(set) var signOutIsPending: Bool?
    private(set) var journalFailure: StoreFailure?

    static let notWatched =
        "the store cannot report the changes of other processes: a sign-out elsewhere is noticed after some seconds"

    init(_ configuration: AppConfiguration) {
        baseURL = configuration.baseURL.absoluteString
        store = EnvironmentToken.isSet ? EnvironmentToken.variable : configuration.storeLocation
    }

    /// Adds the outcome of an automatic login, and returns the state as text for people.
    mutating func note(_ outcome: AutoLogin) -> String {
        switch outcome {
        case .signedIn(let user):
            state = "signedIn"
            guard let user else { return "signed in" }
            self.user = UserObject(user)
            return "signed in as \(user.name) (user \(user.id))"
        case .undetermined(let error):
            state = "unverified"
            problem = Failure(error).message
            return "not verified: \(Failure(error).message)"
        case .signedOut where EnvironmentToken.isSet:
            state = "expired"
            return EnvironmentToken.refusal
        case .signedOut(.expired(let ending)):
            state = "expired"
            return "the session has ended\(ending.cause); \(Failure.signIn)"
        case .signedOut(.lost(let sighting)):
            state = "signedOut"
            let fact = sighting.map { "\($0)" } ?? "its tokens are no longer in the store"
            return "the session is lost: \(fact); \(Failure.signIn)"
        case .signedOut:
            state = "signedOut"
            return "not signed in; \(Failure.signIn)"
        }
    }

    mutating func note(_ report: SessionReport) {
        expiresAt = report.expiresAt
        lastEnding = report.lastEnding.flatMap { Ending($0) }
        refreshFailure = report.refreshFailure.map(RefreshFailure.init)
        userAction = report.userAction.map { "\($0)" }
        storeFailure = report.storeFailure.map { StoreFailure(code: $0.code.rawValue, reason: $0.reason) }
        signOutIsPending = report.isSignOutPending ? true : nil
        journalFailure = report.journalFailure.map { StoreFailure(code: $0.code.rawValue, reason: $0.reason) }
        leaseHolder = report.leaseHolder.map {
            Holder(process: $0.process.process, host: $0.process.host, since: $0.since)
        }
    }

    /// The status as a table of names and values, with times as a reader wants them.
    func rows(_ state: String, _ time: (Date) -> String) -> [[String]] {
        var rows = [["server", baseURL], ["store", store], ["state", state]]
        if let expiresAt { rows.append(["token", "\(expiresAt > Date() ? "expires" : "expired") \(time(expiresAt))"]) }
        if let lastEnding { rows.append(["ended", lastEnding.text(time)]) }
        if let refreshFailure { rows.append(["refresh", refreshFailure.text]) }
        if let userAction { rows.append(["action", "sign in again with 'articles login': \(userAction)"]) }
        if let storeFailure { rows.append(["problem", storeFailure.reason]) }
        if signOutIsPending == true { rows.append(["sign-out", "not stored yet: the next start completes it"]) }
        if let journalFailure { rows.append(["journal", journalFailure.reason]) }
        if storeIsWatched == false { rows.append(["watch", Self.notWatched]) }
        return rows
    }
}

extension SessionEnding {
    /// Why, as a part of a sentence; empty when the server's code does not say it.
    fileprivate var cause: String {
        guard let phrase = Phrase(ending: self) else { return "" }
        let sentence = Strings(.english)(phrase)
        return ": \(sentence.prefix(1).lowercased())\(sentence.dropFirst().trimmingCharacters(in: ["."]))"
    }
}

extension StatusObject.RefreshFailure {
    init(_ error: TokenRefreshError) {
        self.init(
            verdict: error.code.rawValue, reason: error.reason, httpStatus: error.status, code: error.serverCode,
            requestId: error.requestID, retryAfterSeconds: error.retryAfter.map { $0 / .seconds(1) })
    }

    var text: String {
        let known = [
            reason, httpStatus.map { "HTTP \($0)" }, code, requestId.map { "request \($0)" },
            retryAfterSeconds.map { "retry after \(Duration.seconds($0).inWords)" },
        ]
        return (["failed (\(verdict))"] + known.compactMap(\.self)).joined(separator: ", ")
    }
}

extension StatusObject.Ending {
    /// The ending for a reason; `nil` when there was no session. `date`: when it ended, where the store has it.
    init?(_ reason: SignOutReason, date: Date? = nil) {
        switch reason {
        case .never: return nil
        case .byUser: self.init(reason: "byUser", date: date)
        case .application(let text): self.init(reason: text, date: date)
        case .lost(let sighting): self.init(reason: "lost", date: sighting?.date, store: sighting?.store)
        case .expired(let ending):
            self.init(
                reason: "expired", httpStatus: ending.status, code: ending.code, requestId: ending.requestID,
                date: ending.date, process: ending.process)
        }
    }

    func text(_ time: (Date) -> String) -> String {
        let known = [
            httpStatus.map { "HTTP \($0)" }, code, requestId.map { "request \($0)" }, process.map { "process \($0)" },
            date.map(time),
        ]
        let names = [
            "byUser": "by the user",
            "lost": "lost: its tokens are no longer in \(store ?? "the store"); last seen",
        ]
        let name = names[reason] ?? reason
        return ([name] + known.compactMap(\.self)).joined(separator: ", ")
    }
}

struct UserObject: Encodable {
    let id: User.ID
    let name: String
    let profileURL: URL?

    init(_ user: User) {
        id = user.id
        name = user.name
        profileURL = user.profileURL
    }
}
