import AuthInterface
import Foundation
import NetworkCore
import NetworkURLSession
import ProgramTesting
import TokenRefresh

/// The running OAuth 2 provider.
final class Provider: Sendable {
    /// The provider's counts.
    struct Statistics: Decodable, Sendable, CustomStringConvertible {
        let signIns: Int
        let tokenRequests: Int
        let rotations: Int
        let graceReplays: Int
        let reuses: Int
        let refused: Int
        let resourceOk: Int
        let resourceRefused: Int

        private enum CodingKeys: String, CodingKey {
            case signIns = "sign_ins"
            case tokenRequests = "token_requests"
            case rotations
            case graceReplays = "grace_replays"
            case reuses, refused
            case resourceOk = "resource_ok"
            case resourceRefused = "resource_refused"
        }

        var description: String {
            "\(tokenRequests) token requests, \(rotations) rotations, \(graceReplays) replays in the grace window, "
                + "\(reuses) reuses, \(refused) refused, \(resourceOk) requests with 200, \(resourceRefused) with 401"
        }
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private struct Start: Decodable {
        let issuer: URL
        let client: String

        private enum CodingKeys: String, CodingKey {
            case issuer
            case client = "client_id"
        }
    }

    private let program: SpawnedProgram
    private let start: Start
    private let secret = UUID().uuidString
    private let grace: Int

    /// Starts the provider. The first start installs its libraries.
    init(_ options: RunCommand) async throws {
        grace = options.grace
        let program = try await SpawnedProgram(
            URL(fileURLWithPath: options.provider),
            [
                "--access-lifetime", "\(options.accessLifetime)", "--grace", "\(options.grace)", "--client-secret",
                secret,
            ],
            environment: ProcessInfo.processInfo.environment
        )
        self.program = program
        let line = await program.lines.first { _ in true } ?? ""
        guard let start = try? JSONDecoder().decode(Start.self, from: Data(line.utf8)) else {
            program.kill()
            throw Failure(description: "the provider did not start; see App/Tests/Endurance/provider/README.md")
        }
        self.start = start
    }

    func stop() { program.kill(SIGTERM) }

    /// The object graph over a token folder.
    func session(in folder: TemporaryFolder) -> PeerSession {
        PeerSession(url: start.issuer, folder: folder.tokens, kind: .provider, client: start.client, grace: grace)
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
            of: start.issuer, kind: .provider, in: folder, rate: rate, client: (start.client, secret, grace))
    }

    func statistics() async throws -> Statistics {
        let network = NetworkClient(baseURL: start.issuer, transport: URLSessionTransport(), interceptors: [])
        return try await network.send(Endpoint<Statistics>.get("stats").withoutAuthentication())
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
