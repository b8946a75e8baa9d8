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
        PeerSession(url: process.issuer, folder: folder.tokens, kind: .provider, client: process.client, grace: grace)
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

    func statistics() async throws -> Statistics {
        let network = NetworkClient(baseURL: process.issuer, transport: URLSessionTransport(), interceptors: [])
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
