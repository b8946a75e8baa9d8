import ArgumentParser
import Composition

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

    /// Runs the body with the object graph of these flags, the environment and the configuration file, waits until the
    /// background work has ended, and then closes the connections.
    ///
    /// - Throws: `ConfigurationError`, and what the body throws.
    func withGraph(_ body: (AppGraph) async throws -> Void) async throws {
        let graph = try await graph()
        do {
            try await body(graph)
        } catch {
            // The body's error is the one to report. If tokens could not be deleted, the next run shows it.
            try? await graph.shutdown()
            throw error
        }
        try await graph.shutdown()
    }

    private func graph() async throws -> AppGraph {
        let values: [Setting: String?] = [
            .baseURL: baseURL, .store: store, .storePath: storePath, .refresh: refresh, .replay: replay,
            .clientID: clientID, .expiredStatus: expiredStatus,
        ]
        let configuration = try AppConfiguration.read(flags: values.compactMapValues(\.self))
        return try await EnvironmentToken()?.graph(configuration) ?? AppGraph(configuration)
    }
}
