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
            case client = "client_id"
            case key = "client_key"
        }

        let issuer: URL
        let client: String
        let key: String
    }

    package let issuer: URL

    /// The client that authenticates by its secret. Beside it there is a public one, and one with a key.
    package let client: String
    /// The private key of that client, as PEM.
    package let key: String
    package let secret = UUID().uuidString

    private let program: SpawnedProgram

    /// Starts the provider. The first start installs its libraries.
    ///
    /// - Parameters:
    ///   - path: The script that starts it.
    ///   - arguments: Its arguments, without the client's secret.
    /// - Throws: ``Failure`` when it does not start.
    package init(_ path: String, _ arguments: [String] = []) async throws {
        program = try await SpawnedProgram(
            URL(fileURLWithPath: path), arguments + ["--client-secret", secret],
            environment: ProcessInfo.processInfo.environment)
        let line = await program.lines.first { _ in true } ?? ""
        guard let start = try? JSONDecoder().decode(Start.self, from: Data(line.utf8)) else {
            program.kill()
            throw Failure("the provider did not start; see App/Tests/Endurance/provider/README.md")
        }
        issuer = start.issuer
        client = start.client
        key = start.key
    }

    /// Ends the provider.
    package func stop() { program.kill(SIGTERM) }
}
