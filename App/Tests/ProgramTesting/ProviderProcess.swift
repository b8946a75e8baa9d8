package import Foundation

/// The OAuth 2 provider of `App/Tests/Endurance/provider`, as a process of its own.
package struct ProviderProcess: Sendable {
    /// Why the provider cannot be used.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(_ description: String) {
            self.description = description
        }
    }

    private struct Start: Decodable {
        private enum CodingKeys: String, CodingKey {
            case issuer
            case resourceServer = "resource_server"
            case client = "client_id"
            case key = "client_key"
        }

        let issuer: URL
        let resourceServer: URL?
        let client: String
        let key: String
    }

    package let issuer: URL

    /// The base URL of the resource server. In the strict profile it has an origin of its own.
    package let resourceServer: URL

    /// The client that authenticates by its secret. Beside it there is a public one, and one with a key. In the strict
    /// profile, the one with a key is the only one.
    package let client: String
    /// The private key of the client with a key, as PEM.
    package let key: String
    package let secret = UUID().uuidString

    private let program: SpawnedProgram

    /// Starts the provider. The first start installs its libraries.
    ///
    /// - Parameters:
    ///   - path: The script that starts it.
    ///   - arguments: Its arguments, without the client's secret.
    ///   - isStrict: Whether it is the server of the strict profile, which knows no secret.
    /// - Throws: ``Failure`` when it does not start.
    package init(_ path: String, _ arguments: [String] = [], isStrict: Bool = false) async throws {
        program = try await SpawnedProgram(
            URL(fileURLWithPath: path), arguments + (isStrict ? [] : ["--client-secret", secret]),
            environment: ProcessInfo.processInfo.environment)
        let line = await program.lines.first { _ in true } ?? ""
        guard let start = try? JSONDecoder().decode(Start.self, from: Data(line.utf8)) else {
            program.kill()
            throw Failure("the provider did not start; see App/Tests/Endurance/provider/README.md")
        }
        issuer = start.issuer
        resourceServer = start.resourceServer ?? start.issuer
        client = start.client
        key = start.key
    }

    /// Ends the provider.
    package func stop() { program.kill(SIGTERM) }
}
