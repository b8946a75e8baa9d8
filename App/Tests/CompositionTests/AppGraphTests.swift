import AuthInterface
import Composition
import DataAPI
import Foundation
import NetworkCore
import OAuth2Flows
import Testing
import TokenRefresh

/// The whole graph over a transport that answers by the path, and keeps what it was sent.
@Suite struct AppGraphTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "graph-\(UUID().uuidString)")

    private func configuration(_ url: String, refresh: RefreshChoice = .rest) throws -> AppConfiguration {
        AppConfiguration(
            baseURL: try #require(URL(string: url)),
            store: .file(folder: folder),
            refresh: refresh
        )
    }

    private let tokens = TokenRefreshResult(accessToken: "fixture-access", refreshToken: "fixture-refresh")

    @Test func aSessionOutlivesTheCompositionThatBeganIt() async throws {
        let configuration = try configuration("https://api.example.com/api/v1")
        try await AppGraph(configuration, transport: Recorder()).session.signIn(tokens)
        let recorder = Recorder()
        let outcome = try await AppGraph(configuration, transport: recorder).auth.autoLogin()
        guard case .signedIn(let user) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(user.name == "Ada")
        #expect(recorder.lines == ["GET /api/v1/users/me Bearer fixture-access"])
    }

    @Test(
        "tokens of one server are never sent to another",
        arguments: [
            "https://other.example.com/api/v1", "https://api.example.com:444/api/v1", "https://api.example.com/api/v2",
        ])
    func otherServer(_ url: String) async throws {
        let first = try configuration("https://api.example.com/api/v1")
        try await AppGraph(first, transport: Recorder()).session.signIn(tokens)
        let recorder = Recorder()
        let graph = AppGraph(try configuration(url), transport: recorder)
        let error = await #expect(throws: NetworkError.self) { try await graph.auth.me() }
        #expect(error?.code == .notSignedIn)
        #expect(recorder.lines.isEmpty)
    }

    @Test(
        "a slash at the end makes no other server",
        arguments: [
            "https://api.example.com/api/v1/", "https://API.example.com/api/v1", "https://api.example.com:443/api/v1",
        ])
    func sameServer(_ url: String) async throws {
        let first = try configuration("https://api.example.com/api/v1")
        try await AppGraph(first, transport: Recorder()).session.signIn(tokens)
        let graph = AppGraph(try configuration(url), transport: Recorder())
        #expect(try await graph.store.load()?.accessToken == "fixture-access")
    }

    @Test(
        "the refresh is swapped by a word",
        arguments: [
            (RefreshChoice.rest, "POST /api/v1/auth/refresh -"),
            (.oauth2(.basic(id: "a", secret: "b")), "POST /api/v1/oauth2/token Basic YTpi"),
        ])
    func swap(_ refresh: RefreshChoice, _ line: String) async throws {
        let recorder = Recorder()
        let graph = AppGraph(
            try configuration("https://api.example.com/api/v1", refresh: refresh), transport: recorder)
        try await graph.session.signIn(
            TokenRefreshResult(accessToken: Recorder.expired, refreshToken: "fixture-refresh"))
        #expect(try await graph.auth.me().name == "Ada")
        #expect(
            recorder.lines == [
                "GET /api/v1/users/me Bearer \(Recorder.expired)", line, "GET /api/v1/users/me Bearer fixture-next",
            ])
    }

    @Test func theStatusThatMeansExpiredIsAChoice() async throws {
        var configuration = try configuration("https://api.example.com/api/v1")
        configuration.store = .memory
        configuration.expiredStatus = 419
        let graph = AppGraph(configuration, transport: Recorder())
        try await graph.session.signIn(
            TokenRefreshResult(accessToken: Recorder.expired, refreshToken: "fixture-refresh"))
        let error = await #expect(throws: NetworkError.self) { try await graph.auth.me() }
        #expect(error?.status == 401, "401 means something else here, and nothing is refreshed for it")
    }

    @Test("a lost response is asked for once more with the same key, where the server is said to know keys")
    func lostResponse() async throws {
        var configuration = try configuration("https://api.example.com/api/v1")
        configuration.store = .memory
        for (replay, calls) in [(ReplayTolerance.sameKey, 2), (.none, 1)] {
            configuration.replay = replay
            let recorder = Recorder(losingRefreshResponses: 1)
            let graph = AppGraph(configuration, transport: recorder)
            try await graph.session.signIn(
                TokenRefreshResult(accessToken: Recorder.expired, refreshToken: "fixture-refresh"))
            let user = try? await graph.auth.me()
            #expect((user != nil) == (calls == 2))
            #expect(recorder.keys.count == calls)
            #expect(Set(recorder.keys).count == 1 && recorder.keys.first?.isEmpty == false)
        }
    }

    @Test func theObserverIsNotifiedAndTheReportSaysWhatIsKnown() async throws {
        var configuration = try configuration("https://api.example.com/api/v1")
        configuration.store = .memory
        let (events, event) = AsyncStream.makeStream(of: SessionEvent.self)
        let graph = AppGraph(configuration, transport: Recorder(), observer: { event.yield($0) })
        #expect(graph.report.state == .unknown)
        try await graph.session.signIn(tokens)
        #expect(graph.report.isRefreshable && graph.report.lastEnding == nil)
        try await graph.session.signOut()
        try await graph.settle()
        #expect(graph.report.lastEnding == .byUser)
        event.finish()
        let kinds = await events.reduce(into: [String]()) { kinds, event in
            switch event {
            case .signedIn: kinds.append("signedIn")
            case .signedOut(.byUser): kinds.append("signedOut")
            default: break
            }
        }
        #expect(kinds == ["signedIn", "signedOut"])
    }
}
