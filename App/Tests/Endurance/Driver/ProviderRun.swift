import AuthInterface
import ConcurrencyPrimitives
import Foundation
import NetworkCore
import NetworkURLSession
import ProgramTesting
import TokenRefresh

/// S20: three processes over one session with an OAuth 2 provider, one of which is killed at intervals.
struct ProviderRun {
    let options: RunCommand

    private let clock = SystemTimeSource()

    func perform(_ claims: inout Claims) async throws {
        note(
            "S20: \(options.minutes) minutes, a kill about every \(options.killEvery) s, access tokens of "
                + "\(RunCommand.accessLifetime) s, a grace window of \(RunCommand.grace) s")
        let folder = try TemporaryFolder()
        let provider = try await Provider(options)
        defer { provider.stop() }
        try await provider.signIn(in: folder)
        let peers = Fleet(count: 3) { try await provider.peer(in: folder) }
        try await peers.start()
        let start = clock.uptime
        let end = start + .seconds(options.minutes * 60)
        let kills = try await peers.replaceSome(every: options.killEvery, until: end, callTakes: .zero)
        let counts = await peers.stop()
        let seconds = (clock.uptime - start) / .seconds(1)
        let counters = try await provider.counters()
        note("  \(Int(seconds)) s, \(kills) kills, \(counters)")
        claims.recordEnd("S20", of: peers, counts)
        let usable = Double(RunCommand.accessLifetime) * 0.75
        let most = Int(1.3 * seconds / usable) + 1 + kills
        let least = Int(seconds / Double(RunCommand.accessLifetime + 1) / 2)
        claims.record(
            "S20", counters,
            [
                ("reuses", 0...0, "no reuse is detected"), ("refused", 0...0, "no refresh is refused"),
                ("sign_ins", 1...1, "one sign-in"),
                ("rotations", least...max(most, least), "rotations are from \(least) to \(most)"),
            ])
        claims.record("S20: processes were killed", kills > 0 || options.minutes * 60 <= 1.5 * options.killEvery, kills)
        try await claims.recordSession("S20", provider.session(in: folder))
    }
}

/// What a server has counted, by its name there.
struct Counters: Sendable, CustomStringConvertible {
    private let counts: [String: Int]

    init(_ path: EndpointPath, of server: URL, over transport: any HTTPTransport) async throws {
        let network = NetworkClient(baseURL: server, transport: transport)
        counts = try await network.send(Endpoint<[String: Int]>.get(path).withoutAuthentication().format(.json))
    }

    subscript(name: String) -> Int { counts[name] ?? 0 }

    var description: String {
        counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }
}

final class Provider: Sendable {
    private let process: ProviderProcess

    init(_ options: RunCommand) async throws {
        guard let script = options.provider else {
            throw ProviderProcess.Failure("S20 needs --provider: App/Tests/Endurance/provider/start")
        }
        process = try await ProviderProcess(
            script, ["--access-lifetime", "\(RunCommand.accessLifetime)", "--grace", "\(RunCommand.grace)"])
    }

    func stop() { process.stop() }

    func session(in folder: TemporaryFolder) -> PeerSession {
        PeerSession(provider: process.issuer, folder: folder.tokens, client: process.client)
    }

    func signIn(in folder: TemporaryFolder) async throws {
        let session = session(in: folder)
        let form: QueryItems = ["user": "ada"]
        let issued: Issued = try await session.unauthenticated.send(
            .post("sign-in", body: .form(form)).withoutAuthentication().format(.json))
        try await session.coordinator.signIn(
            TokenRefreshResult(
                accessToken: issued.access_token, refreshToken: issued.refresh_token,
                expiresIn: .seconds(issued.expires_in)))
    }

    func peer(in folder: TemporaryFolder) async throws -> PeerProcess {
        try await PeerProcess(
            of: process.issuer, kind: .provider, in: folder, rate: RunCommand.rate / 3, secret: process.secret,
            options: ["--client", process.client])
    }

    func counters() async throws -> Counters {
        try await Counters("stats", of: process.issuer, over: URLSessionTransport())
    }

    private struct Issued: Decodable, Sendable {
        let access_token: String
        let refresh_token: String
        let expires_in: Int
    }
}
