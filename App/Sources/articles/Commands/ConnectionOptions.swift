import ArgumentParser
import Composition

/// The flags of every command that talks to a server.
struct ConnectionOptions: ParsableArguments {
    @Option(help: "Where the API is (default: \(AppConfiguration.defaultBaseURL)).")
    var baseURL: String?

    @Option(help: "Where the session is kept: file or memory (default: file).")
    var store: String?

    @Option(help: "The folder of the file store (default: $XDG_STATE_HOME/articles/tokens).")
    var storePath: String?

    @Option(help: "How tokens are renewed: rest or oauth2 (default: rest).")
    var refresh: String?

    @Option(
        help: """
            What the server forgives when a refresh token comes again because a response was lost: none, a number of \
            seconds, or key, the same idempotency key (default: key).
            """)
    var replay: String?

    @Option(help: "The OAuth 2.0 client. Its secret is read from LATCHKEY_CLIENT_SECRET or the configuration file.")
    var clientID: String?

    @Option(help: "The status that means 'the access token has expired' (default: 401).")
    var expiredStatus: String?

    /// Does something with the application that these flags, the environment and the configuration file describe, and
    /// waits until the work that goes on in the background has ended.
    ///
    /// - Throws: `ConfigurationError`, and what the body throws.
    func withGraph(_ body: (AppGraph) async throws -> Void) async throws {
        let graph = try graph()
        do {
            try await body(graph)
        } catch {
            // Why the work failed is reported. The next run shows that tokens could not be deleted.
            try? await graph.settle()
            throw error
        }
        try await graph.settle()
    }

    private func graph() throws -> AppGraph {
        let values: [Setting: String?] = [
            .baseURL: baseURL, .store: store, .storePath: storePath, .refresh: refresh, .replay: replay,
            .clientID: clientID, .expiredStatus: expiredStatus,
        ]
        return AppGraph(try AppConfiguration.read(flags: values.compactMapValues(\.self)))
    }
}

/// The flag of every command that prints something.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print exactly one JSON object on standard output.")
    var json = false

    var console: Console { Console(isJSON: json) }
}
