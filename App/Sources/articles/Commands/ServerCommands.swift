import ArgumentParser
import ArticlesApp
import ArticlesUI
import ArticlesWeb
import Composition
import DataAPI
import DevBackend
import Foundation

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the development server until SIGINT or SIGTERM.",
        discussion: "Its contract is at /api/v1/openapi.json, in OpenAPI 3.1.",
        examples: [
            "articles serve", "articles serve --token-lifetime 60 --dev", "articles serve --database articles.sqlite",
        ])

    @Option(help: "The loopback port to listen on; 0 is any free port.")
    var port = 8080

    @Option(help: "The database file (default: in memory).", completion: .file())
    var database: String?

    @Option(help: "The lifetime of an access token, in seconds.")
    var tokenLifetime = 900

    @OptionGroup var expired: ExpiredStatusOption

    @Flag(help: "Serve /api/v1/dev/faults, /api/v1/dev/expire and /api/v1/dev/stats.")
    var dev = false

    @OptionGroup var output: OutputOptions<WholeObject>

    func validate() throws {
        try checkPort(port)
        guard (1...86_400_000).contains(tokenLifetime) else {
            throw ValidationError("--token-lifetime must be from 1 to 86400000 seconds")
        }
    }

    func run() async throws {
        let console = output.console
        let storage = database.map { ", and that \($0) is writable" } ?? ""
        let backend = try await started(on: port, storage) { try await DevBackend.start(serverConfiguration) }
        let server = backend.serverDescription
        console.print("Listening on \(server.baseURL.absoluteString); stop it with Ctrl-C.")
        console.print(
            "OAuth 2.0 client: \(server.oauth2ClientID) (\(server.oauth2ClientAuthentication.joined(separator: ", ")))")
        console.print("token endpoint: \(server.tokenEndpoint.absoluteString)")
        console.print("revocation endpoint: \(server.revocationEndpoint.absoluteString)")
        try console.printObject(server)
        await backend.run()
    }

    private var serverConfiguration: DevBackend.Configuration {
        var configuration = DevBackend.Configuration()
        configuration.port = port
        configuration.accessTokenLifetime = .seconds(tokenLifetime)
        configuration.dialect.expiredTokenStatus = expired.status
        configuration.allowsDevEndpoints = dev
        if let database { configuration.database = .file(database) }
        return configuration
    }
}

struct WebCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "web",
        abstract: "Show the screens of the application in a browser of this computer, until SIGINT or SIGTERM.",
        discussion: """
            It listens on 127.0.0.1 only, and prints a URL that one browser can open, once. Its host is a random name \
            under 'localhost', which the browser must resolve to this computer: Chromium, Firefox and curl do. The \
            session is that of the other commands.
            """,
        examples: ["articles web", "articles web --development-name Grace"])

    @Option(help: "The loopback port to listen on; 0 is any free port.")
    var port = 0

    @Option(help: "Sign in with Apple and Kakao as this user of the development provider ('articles serve').")
    var developmentName: String?

    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions<WholeObject>

    func validate() throws {
        try checkPort(port)
    }

    func run() async throws {
        try EnvironmentToken.checkUnset()
        try await connection.withGraph(handlesSignals: true, keepsResponses: true, signsIn: true) { graph in
            var configuration = WebServer.Configuration()
            configuration.port = port
            let services = ScreenServices(graph, identity: DevelopmentIdentity(name: developmentName))
            let server = try await started(on: port) { try await WebServer.start(services, configuration) }
            try await server.run {
                output.console.print("Open \(server.url.absoluteString)")
                output.console.print("The URL can be used once. Stop with Ctrl-C.")
                try output.console.printObject(["url": server.url.absoluteString])
            }
        }
    }

    /// The tokens of the development provider. There is no other provider for a browser on loopback.
    private struct DevelopmentIdentity: IdentityTokenSource {
        let name: String?

        func token(for provider: SocialProvider) async throws -> String {
            guard let name, DevelopmentProvider.names.contains(provider.rawValue) else {
                throw ScreenError("providerUnavailable")
            }
            return try DevelopmentProvider().token(for: provider.rawValue, subject: name, name: name)
        }
    }
}

/// The option of the development server, for `serve` and the demo.
struct ExpiredStatusOption: ParsableArguments {
    @Option(
        help: "The status of the response to an expired access token: 401 or 419.", completion: .list(["401", "419"]))
    var expiredStatus = 401

    var status: DevBackend.ExpiredTokenStatus {
        DevBackend.ExpiredTokenStatus(rawValue: expiredStatus) ?? .unauthorized
    }

    func validate() throws {
        guard DevBackend.ExpiredTokenStatus(rawValue: expiredStatus) != nil else {
            throw ValidationError("--expired-status must be 401 or 419")
        }
    }
}

private func checkPort(_ port: Int) throws {
    guard (0...65_535).contains(port) else { throw ValidationError("--port must be from 0 to 65535") }
}

/// Starts a server. A failure names the port, and what else to check.
private func started<Server>(
    on port: Int, _ advice: String = "", _ start: () async throws -> Server
) async throws -> Server {
    do {
        return try await start()
    } catch {
        throw Failure(
            "cannot start on port \(port); check that the port is free (--port 0 is any free port)\(advice)",
            .unreachable)
    }
}
