import AuthInterface
import DataAPI
import DevBackend
import Foundation

/// S13 and S15: the server rotates at once and responds late, with two processes, at full length.
struct SlowResponseRun {
    let name: String
    let delay: Duration

    /// Whether the response comes after the waiters' deadline.
    private var isPastDeadline: Bool { delay > .seconds(30) }

    func perform(_ claims: inout Claims) async throws {
        say("\(name): the server rotates at once and responds after \(delay); two processes, no grace window")
        let folder = try Folder()
        defer { folder.remove() }
        try await DevBackend.withServer { backend in
            try await signIn(backend, folder)
            let arguments = [
                "--folder", folder.tokens.path, "--server", backend.baseURL.absoluteString, "--kind", "backend",
                "--rate",
                "4",
            ]
            let peers = [try PeerProcess(arguments), try PeerProcess(arguments)]
            defer { for peer in peers { peer.kill() } }
            _ = await wait(atMost: .seconds(60)) { backend.statistics.count("GET", "/users/me", status: 200) >= 8 }
            backend.faults = FaultPlan([FaultRule("POST", "/auth/refresh", .delayResponse(delay), times: 1)])
            try await backend.expireAccessTokens()
            await watch(peers, &claims)

            let refreshes = backend.statistics.refreshes
            claims.see(
                "\(name): one refresh reached the server", refreshes == .init(received: 1, committed: 1), "\(refreshes)"
            )
            let endings = peers.reduce(0) { $0 + $1.events("signedOut") }
            claims.see("\(name): nobody is signed out", endings == 0, "\(endings) endings")
            for peer in peers { _ = await peer.stop() }
        }
    }

    private func watch(_ peers: [PeerProcess], _ claims: inout Claims) async {
        let isRefreshed = await wait(atMost: delay + .seconds(30)) { peers.contains { $0.events("refreshed") > 0 } }
        claims.see("\(name): the response is kept", isRefreshed, isRefreshed)
        if isPastDeadline {
            let late = peers.reduce(0) { $0 + $1.events("lateResponseKept") }
            claims.see("\(name): it is kept as a late one", late == 1, late)
            let isAdopted = await wait(atMost: .seconds(60)) { peers.contains { $0.events("adopted") > 0 } }
            claims.see("\(name): the other process adopts it", isAdopted, isAdopted)
        }
        let failures = peers.flatMap(\.failures)
        let areUnavailable = failures.allSatisfy { $0.hasPrefix("refreshUnavailable") }
        let isAsExpected = isPastDeadline ? areUnavailable && !failures.isEmpty : failures.isEmpty
        let expectation = isPastDeadline ? "requests fail as unavailable meanwhile" : "no request fails"
        let other = failures.first { !$0.hasPrefix("refreshUnavailable") } ?? ""
        claims.see("\(name): \(expectation)", isAsExpected, "\(failures.count) failures \(other)")
        for peer in peers { peer.forgetFailures() }
        _ = await wait(atMost: .seconds(5)) { false }
        let later = peers.flatMap(\.failures)
        claims.see(
            "\(name): no request fails afterwards", later.isEmpty, "\(later.count) failures \(later.first ?? "")")
    }

    private func signIn(_ backend: DevBackend, _ folder: Folder) async throws {
        let session = Session(url: backend.baseURL, folder: folder.tokens, kind: .backend)
        let auth = AuthService(
            unauthenticated: session.open, network: session.network, session: session.coordinator)
        let token = try await backend.configuration.provider.token(for: "apple", subject: "ada", name: "ada")
        try await auth.socialLogin(.apple, token: token)
    }
}

/// A folder for one run.
struct Folder: Sendable {
    private let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("endurance-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// The folder of the file store, which the sign-in makes.
    var tokens: URL { url.appendingPathComponent("tokens") }

    /// Removes the folder and what is in it.
    func remove() { try? FileManager.default.removeItem(at: url) }
}
