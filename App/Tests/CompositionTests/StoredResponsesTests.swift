import AuthInterface
import Composition
import DataAPI
import Foundation
import NetworkCaching
import NetworkCore
import NetworkTesting
import ProgramTesting
import Testing

/// What is stored of a session for a start without a network, and until when.
@Suite(.timeLimit(.minutes(10))) struct StoredResponsesTests {
    private let folder: TemporaryFolder
    private let configuration: AppConfiguration
    private let tokens = TokenRefreshResult(accessToken: "fixture-access", refreshToken: "fixture-refresh")

    init() throws {
        folder = try TemporaryFolder()
        var configuration = AppConfiguration(
            baseURL: try #require(URL(string: "https://api.example.com/api/v1")),
            store: .file(folder: folder.tokens))
        configuration.cacheFolder = folder.url.appending(path: "caches")
        configuration.journalFolder = folder.url.appending(path: "journal")
        self.configuration = configuration
    }

    /// The responses of all servers and profiles on disk.
    private var responses: [String] {
        let found = FileManager.default.enumerator(atPath: folder.url.path)?.compactMap { $0 as? String } ?? []
        return found.filter { $0.hasSuffix(".response") }
    }

    private func session(of graph: AppGraph) async throws -> SessionID {
        guard case .signedIn(let id) = try await graph.session.restore() else {
            throw AuthenticationError(.notSignedIn)
        }
        return id
    }

    /// Signs in and reads the list, in a process that has ended: no task of it has the folder any more.
    private func read() async throws -> SessionID {
        let id = try await readInProcess()
        while configuration.makeCache().count == 0, !Task.isCancelled { await Task.yield() }
        return id
    }

    private func readInProcess() async throws -> SessionID {
        let graph = AppGraph(configuration, over: StubTransport.server(), cache: configuration.makeCache())
        try await graph.session.signIn(tokens)
        _ = try await graph.articles.page()
        try await graph.shutdown()
        #expect(responses.count == 1)
        return try await session(of: graph)
    }

    @Test func `the list is shown at the next start without a request, to its session only`() async throws {
        let id = try await read()
        let transport = StubTransport.server()
        let graph = AppGraph(configuration, over: transport, cache: configuration.makeCache())
        #expect(try await session(of: graph) == id)
        let stored = try #require(graph.storedArticles(of: id))
        #expect(try await stored.page().items.map(\.title) == ["Title"])
        await #expect(throws: NetworkError.self) { try await stored.page(limit: 3) }
        let other = graph.storedArticles(of: SessionID(rawValue: "other"))
        await #expect(throws: NetworkError.self) { try await other?.page() }
        #expect(transport.lines.isEmpty)
        try await graph.shutdown()
    }

    @Test(arguments: [true, false])
    func `the end of a session deletes what is stored of it`(isReplaced: Bool) async throws {
        let id = try await read()
        let graph = AppGraph(configuration, over: StubTransport.server(), cache: configuration.makeCache())
        #expect(try await session(of: graph) == id)
        if isReplaced { try await graph.session.signIn(tokens) } else { try await graph.session.signOut() }
        while !responses.isEmpty, !Task.isCancelled { await Task.yield() }
        try await graph.shutdown()
    }

    @Test func `a sign-out deletes what an earlier process has stored`() async throws {
        _ = try await read()
        let graph = AppGraph(configuration, over: StubTransport.server())
        _ = try await session(of: graph)
        try await graph.settle()
        #expect(responses.count == 1)
        try await graph.session.signOut()
        try await graph.settle()
        #expect(responses.isEmpty)
    }

    @Test func `a second process keeps responses in memory, and each profile has a folder of its own`() async throws {
        let first = configuration.makeCache()
        let graph = AppGraph(configuration, over: StubTransport.server(), cache: configuration.makeCache())
        try await graph.session.signIn(tokens)
        _ = try await graph.articles.page()
        #expect(responses.isEmpty && first.count == 0)
        try await graph.shutdown()
        var other = configuration
        other.profile = ProfileName("staging")
        let staging = AppGraph(other, over: StubTransport.server(), cache: other.makeCache())
        try await staging.session.signIn(tokens)
        _ = try await staging.articles.page()
        #expect(responses.count == 1)
        try await staging.shutdown()
    }

    @Test func `a graph that is released releases its cache`() async throws {
        weak var cache: ResponseCache?
        do {
            let made = ResponseCache()
            cache = made
            _ = AppGraph(configuration, over: StubTransport.server(), cache: made)
        }
        while cache != nil, !Task.isCancelled { await Task.yield() }
    }
}
