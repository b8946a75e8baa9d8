import AuthInterface
import Composition
import DataAPI
import Foundation
import NetworkCore
import OAuth2Flows
import Testing
import TokenRefresh

/// The object graph over a transport with scripted responses.
@Suite(.timeLimit(.minutes(20))) struct AppGraphTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "graph-\(UUID().uuidString)")

    private func configuration(_ url: String, refresh: RefreshChoice = .rest) throws -> AppConfiguration {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return AppConfiguration(
            baseURL: try #require(URL(string: url)),
            store: .file(folder: folder.appending(path: "tokens")),
            journalFolder: folder.appending(path: "journal"),
            refresh: refresh
        )
    }

    private let tokens = TokenRefreshResult(accessToken: "fixture-access", refreshToken: "fixture-refresh")

    @Test func `a session outlives the graph that started it`() async throws {
        let configuration = try configuration("https://api.example.com/api/v1")
        try await AppGraph(configuration, over: ScriptedTransport()).session.signIn(tokens)
        let transport = ScriptedTransport()
        let outcome = try await AppGraph(configuration, over: transport).auth.autoLogin()
        guard case .signedIn(let user?) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(user.name == "Ada")
        #expect(
            transport.lines == ["POST /api/v1/auth/refresh -", "GET /api/v1/users/me Bearer fixture-next"],
            "the launch refreshes the tokens, whatever their expiry")
    }

    @Test(arguments: [
        "https://other.example.com/api/v1", "https://api.example.com:444/api/v1", "https://api.example.com/api/v2",
    ])
    func `the tokens of one server are never sent to another`(_ url: String) async throws {
        let first = try configuration("https://api.example.com/api/v1")
        try await AppGraph(first, over: ScriptedTransport()).session.signIn(tokens)
        let transport = ScriptedTransport()
        let graph = AppGraph(try configuration(url), over: transport)
        let error = await #expect(throws: NetworkError.self) { try await graph.auth.me() }
        #expect(error?.code == .notSignedIn)
        #expect(transport.lines.isEmpty)
    }

    @Test(arguments: [
        "https://api.example.com/api/v1/", "https://API.example.com/api/v1", "https://api.example.com:443/api/v1",
    ])
    func `a slash at the end of the base URL does not make another server`(_ url: String) async throws {
        let first = try configuration("https://api.example.com/api/v1")
        try await AppGraph(first, over: ScriptedTransport()).session.signIn(tokens)
        let graph = AppGraph(try configuration(url), over: ScriptedTransport())
        #expect(try await graph.store.load()?.accessToken == "fixture-access")
    }

    @Test(arguments: [
        (RefreshChoice.rest, "POST /api/v1/auth/refresh -"),
        (.oauth2(.basic(id: "a", secret: "b")), "POST /api/v1/oauth2/token Basic YTpi"),
    ])
    func `the configuration chooses the refresh call`(_ refresh: RefreshChoice, _ line: String) async throws {
        let transport = ScriptedTransport()
        let graph = AppGraph(
            try configuration("https://api.example.com/api/v1", refresh: refresh), over: transport)
        try await graph.session.signIn(
            TokenRefreshResult(accessToken: ScriptedTransport.expired, refreshToken: "fixture-refresh"))
        #expect(try await graph.auth.me().name == "Ada")
        #expect(
            transport.lines == [
                "GET /api/v1/users/me Bearer \(ScriptedTransport.expired)", line,
                "GET /api/v1/users/me Bearer fixture-next",
            ])
    }

    @Test func `the status of an expired token can be configured`() async throws {
        var configuration = try configuration("https://api.example.com/api/v1")
        configuration.store = .memory
        configuration.expiredStatus = 419
        let graph = AppGraph(configuration, transport: ScriptedTransport())
        try await graph.session.signIn(
            TokenRefreshResult(accessToken: ScriptedTransport.expired, refreshToken: "fixture-refresh"))
        let error = await #expect(throws: NetworkError.self) { try await graph.auth.me() }
        #expect(error?.status == 401, "401 means something else here, and nothing is refreshed for it")
    }

    @Test func `a lost response is replayed with the same key, if the server knows keys`() async throws {
        var configuration = try configuration("https://api.example.com/api/v1")
        configuration.store = .memory
        for (replay, calls) in [(ReplayTolerance.sameKey, 2), (.none, 1)] {
            configuration.replay = replay
            let transport = ScriptedTransport(losingRefreshResponses: 1)
            let graph = AppGraph(configuration, transport: transport)
            try await graph.session.signIn(
                TokenRefreshResult(accessToken: ScriptedTransport.expired, refreshToken: "fixture-refresh"))
            let user = try? await graph.auth.me()
            #expect((user != nil) == (calls == 2))
            #expect(transport.keys.count == calls)
            #expect(Set(transport.keys).count == 1 && transport.keys.first?.isEmpty == false)
        }
    }

    @Test func `the observer is notified, and the report shows the state`() async throws {
        var configuration = try configuration("https://api.example.com/api/v1")
        configuration.store = .memory
        let (events, event) = AsyncStream.makeStream(of: SessionEvent.self)
        let graph = AppGraph(configuration, transport: ScriptedTransport(), observer: { event.yield($0) })
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
