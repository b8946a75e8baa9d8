import ArgumentParser
import AuthInterface
import Composition
import Foundation

struct SessionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session",
        abstract: "Show the session, move it to another machine or store, or give its token to other tools.",
        subcommands: [
            SessionShowCommand.self, SessionExportCommand.self, SessionImportCommand.self,
            SessionFollowCommand.self,
        ]
    )
}

struct SessionShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show what is stored of the session, without the tokens.",
        discussion: "Nothing is sent to the server. Exit status: 77 when no user is signed in.",
        examples: ["articles session show", "articles session show --json"])

    @Flag(help: "Show the tokens too. They are as good as a password.")
    var reveal = false

    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions<SessionObject>

    func run() async throws {
        try await connection.withGraph { graph in
            guard let bundle = try await graph.store.load() else { throw AuthenticationError(.notSignedIn) }
            let console = output.console
            var object = SessionObject(bundle, graph.configuration, revealing: reveal)
            object.isSignOutPending = await graph.configuration.isSignOutPending(of: bundle.session)
            for row in object.rows { console.printRow(row) { "\($0[0].fitted(to: 14))\($0[1])" } }
            try console.printObject(object)
        }
    }
}

/// A stored session as `--json` prints one.
struct SessionObject: Encodable, PrintedObject {
    static let fields = [
        "baseURL", "store", "session", "generation", "accessToken", "refreshToken", "expiresAt", "receivedAt",
        "isRefreshPending", "isSignOutPending",
    ]

    let baseURL: String
    let store: String
    let session: String
    let generation: Int
    let accessToken: String
    let refreshToken: String?
    let expiresAt: Date?
    let receivedAt: Date?
    let isRefreshPending: Bool
    /// The user has signed out, and the store has not taken it (G30).
    var isSignOutPending = false

    init(_ bundle: TokenBundle, _ configuration: AppConfiguration, revealing isRevealed: Bool) {
        func shown(_ token: String) -> String { isRevealed ? token : "redacted (\(token.utf8.count) characters)" }
        baseURL = configuration.baseURL.absoluteString
        store =
            EnvironmentToken.source ?? configuration.storeLocation
        session = bundle.session.rawValue
        generation = bundle.generation
        accessToken = shown(bundle.accessToken)
        refreshToken = bundle.refreshToken.map(shown)
        expiresAt = bundle.expiresAt
        receivedAt = bundle.receivedAt
        isRefreshPending = bundle.refreshIntent != nil
    }

    /// The session as a table of names and values.
    var rows: [[String]] {
        let known: [(String, String?)] = [
            ("server", baseURL), ("store", store), ("session", session), ("generation", "\(generation)"),
            ("access token", accessToken), ("refresh token", refreshToken ?? "none"),
            ("expires", expiresAt?.formatted(.iso8601)), ("received", receivedAt?.formatted(.iso8601)),
            ("pending", isRefreshPending ? "a refresh, which the next command completes" : nil),
            ("pending", isSignOutPending ? "a sign-out, which the next command completes" : nil),
        ]
        return known.compactMap { name, value in value.map { [name, $0] } }
    }
}

extension AppConfiguration {
    /// What the journal says of the stored session (G30); nothing where there is none, or the token is that of the
    /// environment.
    func journalEntry() async throws -> SessionJournalEntry {
        guard !EnvironmentToken.isSet, let journal = makeJournal() else { return SessionJournalEntry() }
        return try await journal.read()
    }

    /// Whether the next command ends a stored session (G30). A journal that cannot be read ends none.
    func isSignOutPending(of session: SessionID) async -> Bool {
        await (try? journalEntry())?.mayEnd(session) ?? false
    }
}
