import ArgumentParser
import Composition
import Foundation

/// The flags of every command that talks to a server.
struct ConnectionOptions: ParsableArguments {
    @Option(help: "The base URL of the API (default: \(AppConfiguration.defaultBaseURL)).")
    var baseURL: String?

    @Option(help: "Where the session is stored: file or memory (default: file).")
    var store: String?

    @Option(help: "The folder of the file store (default: $XDG_STATE_HOME/articles/tokens).")
    var storePath: String?

    @Option(help: "How tokens are refreshed: rest or oauth2 (default: rest).")
    var refresh: String?

    @Option(
        help: """
            Which replays of a refresh the server tolerates after a lost response: none; key, with the same \
            idempotency key; or a number of seconds (default: key).
            """)
    var replay: String?

    @Option(
        help:
            "The OAuth 2.0 client identifier. The secret is read from LATCHKEY_CLIENT_SECRET or the configuration file."
    )
    var clientID: String?

    @Option(help: "The status of the response to an expired access token (default: 401).")
    var expiredStatus: String?

    @Option(help: "The profile of the configuration file, with a session of its own (default: default).")
    var profile: String?

    @OptionGroup(title: "Requests") var traffic: TrafficOptions

    /// Runs the body with the object graph of these flags, the environment and the configuration file, waits until the
    /// background work has ended, and writes what was recorded of the requests.
    ///
    /// - Throws: `ConfigurationError`, and what the body throws.
    func withGraph(_ body: (AppGraph) async throws -> Void) async throws {
        let configuration = try configuration()
        let recording = try traffic.start()
        let graph = try await graph(configuration, recording)
        do {
            try await body(graph)
        } catch {
            // The body's error is the one to report. If tokens could not be deleted, the next run shows it.
            try? await graph.settle()
            // So does a record that cannot be written.
            try? finish(recording, configuration)
            throw error
        }
        try await graph.settle()
        try finish(recording, configuration)
    }

    private func finish(_ recording: TrafficRecording, _ configuration: AppConfiguration) throws {
        try recording.finish("articles \(Self.command)", baseURL: configuration.baseURL.absoluteString)
    }

    /// The names of the command that runs. Its other arguments may be secrets.
    private static var command: String {
        let words = CommandLine.arguments.dropFirst()
        let count = ["login", "session"].contains(words.first) ? 2 : 1
        return words.prefix(count).joined(separator: " ")
    }

    /// The configuration of these flags, the environment and the configuration file.
    ///
    /// - Throws: `ConfigurationError`.
    func configuration() throws -> AppConfiguration {
        let values: [Setting: String?] = [
            .baseURL: baseURL, .store: store, .storePath: storePath, .refresh: refresh, .replay: replay,
            .clientID: clientID, .expiredStatus: expiredStatus, .profile: profile,
        ]
        return try AppConfiguration.read(flags: values.compactMapValues(\.self))
    }

    private func graph(_ configuration: AppConfiguration, _ recording: TrafficRecording) async throws -> AppGraph {
        let token = try EnvironmentToken()
        var configuration = configuration
        if token != nil { configuration.store = .memory }
        let graph = AppGraph(configuration, transport: recording.transport(), observers: recording.observers)
        try await token?.save(in: graph)
        return graph
    }
}
