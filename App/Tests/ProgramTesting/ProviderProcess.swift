package import Foundation

/// The OAuth 2 provider of `App/Tests/Endurance/provider`, as a process of its own.
package struct ProviderProcess: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(_ description: String) {
            self.description = description
        }
    }

    private struct Start: Decodable {
        let issuer: URL
        let resource_server: URL?
        let client_id: String
        let client_key: String
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

    /// Starts the provider with a script and its arguments, without the client's secret: the server of the strict
    /// profile knows none. The first start installs its libraries.
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
        resourceServer = start.resource_server ?? start.issuer
        client = start.client_id
        key = start.client_key
    }

    package func stop() { program.kill(SIGTERM) }
}
