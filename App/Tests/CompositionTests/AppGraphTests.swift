import AuthInterface
import Composition
import DataAPI
import Foundation
import NetworkCore
import NetworkTesting
import OAuth2Flows
import ProgramTesting
import Testing
import TokenRefresh

/// The object graph over a transport with scripted responses.
@Suite(.timeLimit(.minutes(20))) struct AppGraphTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func configuration(
        _ url: String = "https://api.example.com/api/v1", refresh: RefreshChoice = .rest
    ) throws -> AppConfiguration {
        var configuration = AppConfiguration(
            baseURL: try #require(URL(string: url)), store: .file(folder: folder.tokens))
        configuration.journalFolder = folder.url.appending(path: "journal")
        configuration.refresh = refresh
        return configuration
    }

    private let tokens = TokenRefreshResult(accessToken: "fixture-access", refreshToken: "fixture-refresh")
    private let expired = TokenRefreshResult(accessToken: StubTransport.expired, refreshToken: "fixture-refresh")

    @Test(arguments: [
        ("https://other.example.com/api/v1", false), ("https://api.example.com:444/api/v1", false),
        ("https://api.example.com/api/v2", false), ("https://api.example.com/api/v1/", true),
        ("https://API.example.com/api/v1", true), ("https://api.example.com:443/api/v1", true),
    ])
    func `the tokens of one server are never sent to another, and another spelling is the same server`(
        _ url: String, isSame: Bool
    ) async throws {
        let first = try configuration()
        try await AppGraph(first, over: StubTransport.server()).session.signIn(tokens)
        let transport = StubTransport.server()
        let graph = AppGraph(try configuration(url), over: transport)
        #expect(try await graph.store.load()?.accessToken == (isSame ? "fixture-access" : nil))
        guard !isSame else { return }
        let error = await #expect(throws: NetworkError.self) { try await graph.auth.me() }
        #expect(error?.code == .notSignedIn)
        #expect(transport.lines.isEmpty)
    }

    @Test(arguments: [
        (RefreshChoice.rest, "POST /api/v1/auth/refresh -"),
        (.oauth2(.basic(id: "a", secret: "b")), "POST /api/v1/oauth2/token Basic YTpi"),
    ])
    func `the configuration chooses the refresh call`(_ refresh: RefreshChoice, _ line: String) async throws {
        let transport = StubTransport.server()
        let graph = AppGraph(try configuration(refresh: refresh), over: transport)
        try await graph.session.signIn(expired)
        #expect(try await graph.auth.me().name == "Ada")
        #expect(
            transport.lines == [
                "GET /api/v1/users/me Bearer \(StubTransport.expired)", line,
                "GET /api/v1/users/me Bearer fixture-next",
            ])
    }

    @Test func `the status of an expired token can be configured`() async throws {
        var configuration = try configuration()
        configuration.store = .memory
        configuration.expiredStatus = 419
        let graph = AppGraph(configuration, transport: StubTransport.server())
        try await graph.session.signIn(expired)
        let error = await #expect(throws: NetworkError.self) { try await graph.auth.me() }
        #expect(error?.status == 401, "401 means something else here, and nothing is refreshed for it")
    }

    @Test func `the observer is notified, and the report shows the state`() async throws {
        var configuration = try configuration()
        configuration.store = .memory
        let (events, event) = AsyncStream.makeStream(of: SessionEvent.self)
        let graph = AppGraph(configuration, transport: StubTransport.server(), observer: { event.yield($0) })
        #expect(graph.session.state == .unknown)
        try await graph.session.signIn(tokens)
        #expect(graph.report.lastEnding == nil)
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

    @Test func `a graph that was shut down sends nothing`() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:9"))
        let graph = AppGraph(AppConfiguration(baseURL: url, store: .memory))
        try await graph.shutdown()
        let error = await #expect(throws: NetworkError.self) { try await graph.auth.me() }
        #expect(error?.code == .notSignedIn)
        await #expect(throws: NetworkError.self) {
            try await graph.unauthenticatedNetwork.send(Endpoint<Data>.get("articles"))
        }
    }
}
