import ArgumentParser
import ArticlesApp
import ArticlesUI
import ArticlesWeb
import Composition
import DataAPI
import DevBackend
import Foundation

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
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be from 0 to 65535") }
    }

    func run() async throws {
        try await connection.withGraph(handlesSignals: true, keepsResponses: true, signsIn: true) { graph in
            let server = try await start(graph)
            try await server.run {
                output.console.print("Open \(server.url.absoluteString)")
                output.console.print("The URL can be used once. Stop with Ctrl-C.")
                try output.console.printObject(["url": server.url.absoluteString])
            }
        }
    }

    private func start(_ graph: AppGraph) async throws -> WebServer {
        let services = ScreenServices(graph, identity: DevelopmentIdentity(name: developmentName))
        var configuration = WebServer.Configuration()
        configuration.port = port
        do {
            return try await WebServer.start(services, configuration)
        } catch {
            throw Failure(
                "cannot start on port \(port); check that the port is free (--port 0 is any free port)", .unreachable)
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
