import AuthInterface
import Foundation
import NetworkCore
import NetworkURLSession
import ProgramTesting
import TokenRefresh

/// What a server has counted, by its name there.
struct Counters: Sendable, CustomStringConvertible {
    private let counts: [String: Int]

    /// Reads the counts.
    init(_ path: EndpointPath, of server: URL, over transport: any HTTPTransport) async throws {
        let network = NetworkClient(baseURL: server, transport: transport)
        counts = try await network.send(Endpoint<[String: Int]>.get(path).withoutAuthentication().format(.json))
    }

    subscript(name: String) -> Int { counts[name] ?? 0 }

    var description: String {
        counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }
}

/// The running OAuth 2 provider.
final class Provider: Sendable {
    private let process: ProviderProcess
    private let grace: Int

    init(_ options: RunCommand) async throws {
        grace = options.grace
        guard let script = options.provider else {
            throw ProviderProcess.Failure("S20 needs --provider: App/Tests/Endurance/provider/start")
        }
        process = try await ProviderProcess(
            script, ["--access-lifetime", "\(options.accessLifetime)", "--grace", "\(options.grace)"])
    }

    func stop() { process.stop() }

    /// The object graph over a token folder.
    func session(in folder: TemporaryFolder) -> PeerSession {
        PeerSession(provider: process.issuer, folder: folder.tokens, client: process.client, grace: grace)
    }

    /// Signs a user in and stores the session.
    func signIn(in folder: TemporaryFolder) async throws {
        let session = session(in: folder)
        let form: QueryItems = ["user": "ada"]
        let issued: Issued = try await session.unauthenticated.send(
            .post("sign-in", body: .form(form)).withoutAuthentication().format(.json))
        try await session.coordinator.signIn(
            TokenRefreshResult(
                accessToken: issued.accessToken, refreshToken: issued.refreshToken,
                expiresIn: .seconds(issued.expiresIn)))
    }

    /// Starts a process that sends requests.
    func peer(in folder: TemporaryFolder, rate: Double) async throws -> PeerProcess {
        try await PeerProcess(
            of: process.issuer, kind: .provider, in: folder, rate: rate, secret: process.secret,
            options: ["--client", process.client, "--grace", "\(grace)"])
    }

    func counters() async throws -> Counters {
        try await Counters("stats", of: process.issuer, over: URLSessionTransport())
    }

    private struct Issued: Decodable, Sendable {
        let accessToken: String
        let refreshToken: String
        let expiresIn: Int

        private enum CodingKeys: String, CodingKey {
            case accessToken = "access_token"
            case refreshToken = "refresh_token"
            case expiresIn = "expires_in"
        }
    }
}
