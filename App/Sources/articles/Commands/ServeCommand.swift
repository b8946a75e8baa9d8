import ArgumentParser
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

    @Option(
        help: "The status of the response to an expired access token: 401 or 419.", completion: .list(["401", "419"]))
    var expiredStatus = 401

    @Flag(help: "Serve /api/v1/dev/faults, /api/v1/dev/expire and /api/v1/dev/stats.")
    var dev = false

    @OptionGroup var output: OutputOptions<WholeObject>

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be from 0 to 65535") }
        guard (1...86_400_000).contains(tokenLifetime) else {
            throw ValidationError("--token-lifetime must be from 1 to 86400000 seconds")
        }
        guard DevBackend.ExpiredTokenStatus(rawValue: expiredStatus) != nil else {
            throw ValidationError("--expired-status must be 401 or 419")
        }
    }

    func run() async throws {
        let console = output.console
        let backend = try await start()
        let server = backend.serverDescription
        console.print("Listening on \(server.baseURL.absoluteString); stop it with Ctrl-C.")
        console.print(
            "OAuth 2.0 client: \(server.oauth2ClientID) (\(server.oauth2ClientAuthentication.joined(separator: ", ")))")
        console.print("token endpoint: \(server.tokenEndpoint.absoluteString)")
        console.print("revocation endpoint: \(server.revocationEndpoint.absoluteString)")
        try console.printObject(server)
        await backend.run()
    }

    private func start() async throws -> DevBackend {
        var configuration = DevBackend.Configuration()
        configuration.port = port
        configuration.accessTokenLifetime = .seconds(tokenLifetime)
        configuration.dialect.expiredTokenStatus =
            DevBackend.ExpiredTokenStatus(rawValue: expiredStatus) ?? .unauthorized
        configuration.allowsDevEndpoints = dev
        if let database { configuration.database = .file(database) }
        do {
            return try await DevBackend.start(configuration)
        } catch {
            let storage = database.map { ", and that \($0) is writable" } ?? ""
            throw Failure(
                "cannot start on port \(port); check that the port is free (--port 0 is any free port)\(storage)",
                .unreachable)
        }
    }
}
