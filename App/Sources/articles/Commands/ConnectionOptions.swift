import ArgumentParser
import AuthInterface
import Composition
import Foundation
import NetworkCore

/// The flags of every command that talks to a server.
struct ConnectionOptions: ParsableArguments {
    static let title = "Connection"

    @Option(help: "The base URL of the API (default: \(AppConfiguration.defaultBaseURL)).")
    var baseURL: String?

    @Option(
        help: """
            Where the session is stored: \(StoreChoice.names.joined(separator: ", ")) (default: the desktop's keyring \
            where there is one, else a file; a session in a file stays there).
            """,
        completion: .list(StoreChoice.names))
    var store: String?

    @Option(
        help: "The folder of the file store (default: $XDG_STATE_HOME/articles/tokens).", completion: .directory)
    var storePath: String?

    @Option(
        help: "How tokens are refreshed: rest or oauth2 (default: rest).", completion: .list(["rest", "oauth2"]))
    var refresh: String?

    @Option(
        help: """
            Which replays of a refresh the server tolerates after a lost response: none; key, with the same \
            idempotency key; or a number of seconds (default: key).
            """,
        completion: .list(["none", "key"]))
    var replay: String?

    @Option(
        help:
            "The OAuth 2.0 client identifier. The secret is read from ARTICLES_CLIENT_SECRET or the configuration file."
    )
    var clientID: String?

    @Option(
        help: "The status of the response to an expired access token (default: 401).",
        completion: .list(["401", "419"]))
    var expiredStatus: String?

    @Option(
        help: """
            The header fields of the tokens: one name, or two with a comma between them for a server that needs the \
            refresh token too (default: Authorization).
            """)
    var tokenFields: String?

    @Option(
        help: "The profile of the configuration file, with a session of its own (default: default).",
        completion: .custom { _, _, _ in
            [ProfileName.defaultName] + ((try? AppConfiguration.profiles().names.map(\.rawValue)) ?? [])
        })
    var profile: String?

    @OptionGroup(title: "Requests") var traffic: TrafficOptions

    /// Runs the body with the object graph of these flags, the environment and the configuration file, waits until the
    /// background work has ended, closes the connections, and writes what was recorded of the requests.
    ///
    /// A body that handles signals ends on SIGINT and SIGTERM; otherwise they end it and the process, after what was
    /// recorded is written. Responses are kept for this run and the next one. Where it signs in, a session may begin.
    ///
    /// - Throws: `ConfigurationError`, and what the body throws.
    func withGraph(
        handlesSignals: Bool = false, keepsResponses: Bool = false, signsIn: Bool = false,
        _ body: (AppGraph) async throws -> Void
    ) async throws {
        let token = try EnvironmentToken()
        var configuration = try configuration()
        if token == nil {
            configuration = await configuration.choosingStore(forSignIn: signsIn)
        } else {
            configuration.store = .memory
        }
        let recording = try TrafficRecording(traffic)
        let transport = PlatformTransport.make()
        let finish = { @Sendable [url = configuration.baseURL.absoluteString] in
            try recording.finish("articles \(Self.command)", baseURL: url)
        }
        let graph = AppGraph(
            configuration, transport: recording.transport(transport),
            cache: keepsResponses ? configuration.makeCache() : nil, observers: recording.observers)
        let isNeeded = recording.isActive && !handlesSignals
        let results = await Interruption.guarding(if: isNeeded) {
            _ = try? finish()
        } work: { interruption in
            let outcome = await Self.result {
                try await token?.save(in: graph)
                try await body(graph)
            }
            if let interruption, interruption.hasSignal {
                // A refresh that is under way is not waited for: the store has its record.
                await recording.exchanges.cancelAll()
                interruption.end()
            }
            // The background work needs the connections.
            let settled = await Self.result { try await graph.settle() }
            await PlatformTransport.shutdown(transport)
            return [outcome, settled, Result { try finish() }]
        }
        // The body's error is the one to report. If tokens could not be deleted, or a record cannot be written, the
        // next run shows it.
        do {
            for result in results { try result.get() }
        } catch let error as NetworkError {
            // A session without a refresh token may have ended with it, which is stored by now.
            guard case .signedOut = graph.session.state else { throw error }
            throw Failure(error, sessionHasEnded: true)
        }
    }

    private static func result(of work: () async throws -> Void) async -> Result<Void, any Error> {
        do {
            return .success(try await work())
        } catch {
            return .failure(error)
        }
    }

    /// The names of the command that runs. Its other arguments may be secrets.
    static var command: String {
        let words = CommandLine.arguments.dropFirst()
        let count = ["login", "profile"].contains(words.first) ? 2 : 1
        return words.prefix(count).joined(separator: " ")
    }

    func configuration() throws -> AppConfiguration {
        let values: [Setting: String?] = [
            .baseURL: baseURL, .store: store, .storePath: storePath, .refresh: refresh, .replay: replay,
            .clientID: clientID, .expiredStatus: expiredStatus, .tokenFields: tokenFields,
            .profile: profile,
        ]
        return try AppConfiguration.read(flags: values.compactMapValues(\.self))
    }
}

/// The flags of ``ConnectionOptions``, which the help of each other command names in one line.
struct ConnectionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connection",
        abstract: "Explain the flags of every command that talks to a server.",
        discussion: """
            Each flag is also an environment variable and a key of the configuration file: --base-url is \
            \(Setting.baseURL.variable) and "base-url". A flag comes first, then the variable, then the key. The profile \
            is \(Setting.profile.variable); the client's secret has no flag; ARTICLES_CONFIG names another file.
            """,
        examples: [
            "articles list --profile staging",
            "articles list --base-url https://api.example.com/v1 --expired-status 419",
            "articles list --trace", "articles show 7 --har show.har",
        ])

    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions

    func run() throws {
        throw CleanExit.helpRequest(self)
    }

    /// The help of a command with one line in place of these flags; unchanged where it has none, and for this command.
    static func folded(_ help: String) -> String {
        var sections = help.components(separatedBy: "\n\n")
        let isOwn = help.contains("USAGE: articles \(configuration.commandName ?? "")")
        guard !isOwn, let index = sections.firstIndex(where: { $0.hasPrefix(heading) }) else { return help }
        let pointer = "see 'articles help connection'."
        sections[index] = "\(heading)  --profile, --base-url, --store, --trace and more: \(pointer)"
        return sections.joined(separator: "\n\n")
    }

    /// As ArgumentParser writes the title of a group.
    private static let heading = "\(ConnectionOptions.title.uppercased()):\n"
}
