import ArgumentParser
import Composition
import Foundation

/// The flags of every command that talks to a server.
struct ConnectionOptions: ParsableArguments {
    /// The title of these flags in a help.
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
    /// - Parameters:
    ///   - handlesSignals: Whether the body ends on SIGINT and SIGTERM. Otherwise they end it and the process, after
    ///     what was recorded is written.
    ///   - keepsResponses: Whether responses are kept, for this run and the next one.
    ///   - signsIn: Whether a session may begin.
    ///   - body: Does the work of the command.
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
        let recording = try traffic.start()
        let transport = PlatformTransport()
        let interruption = recording.isActive && !handlesSignals ? Interruption.current : nil
        let conclude = { @Sendable [url = configuration.baseURL] in _ = try? Self.finish(recording, url) }
        await interruption?.trap(conclude)
        let graph = AppGraph(
            configuration, transport: recording.transport(transport),
            cache: keepsResponses ? configuration.makeCache() : nil, observers: recording.observers)
        let outcome = await Self.result {
            try await token?.save(in: graph)
            try await body(graph)
        }
        if let interruption, interruption.hasSignal {
            // A refresh that is under way is not waited for: the store has its record.
            await recording.cancelRequests()
            conclude()
            interruption.end()
        }
        // The body's error is the one to report. If tokens could not be deleted, or a record cannot be written, the
        // next run shows it.
        // The background work needs the connections.
        let settled = await Self.result { try await graph.settle() }
        await transport.shutdown()
        let written = Result { try Self.finish(recording, configuration.baseURL) }
        interruption?.end()
        interruption?.stop()
        for result in [outcome, settled, written] { try result.get() }
    }

    private static func result(of work: () async throws -> Void) async -> Result<Void, any Error> {
        do {
            return .success(try await work())
        } catch {
            return .failure(error)
        }
    }

    private static func finish(_ recording: TrafficRecording, _ baseURL: URL) throws {
        try recording.finish("articles \(command)", baseURL: baseURL.absoluteString)
    }

    /// The names of the command that runs. Its other arguments may be secrets.
    static var command: String {
        let words = CommandLine.arguments.dropFirst()
        let count = ["login", "profile"].contains(words.first) ? 2 : 1
        return words.prefix(count).joined(separator: " ")
    }

    /// The configuration of these flags, the environment and the configuration file.
    func configuration() throws -> AppConfiguration {
        let values: [Setting: String?] = [
            .baseURL: baseURL, .store: store, .storePath: storePath, .refresh: refresh, .replay: replay,
            .clientID: clientID, .expiredStatus: expiredStatus, .tokenFields: tokenFields,
            .profile: profile,
        ]
        return try AppConfiguration.read(flags: values.compactMapValues(\.self))
    }
}
