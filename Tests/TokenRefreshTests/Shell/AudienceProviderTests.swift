import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import Testing

@testable import TokenRefresh

/// A rotating server that issues tokens by audience, and ends the session at the second use of a refresh token.
private final class AudienceServer: TokenRefreshHandler {
    private struct State {
        var generation = 0
        var callers = 0
        var mostAtOnce = 0
        var calls: [String] = []
    }

    let audiences: Set<TokenAudience>
    private let state = Locked(State())

    init(_ audiences: Set<TokenAudience> = [.files, .mail]) { self.audiences = audiences }

    var calls: [String] { state.withLock { $0.calls } }
    var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }

    func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
        state.withLock {
            $0.callers += 1
            $0.mostAtOnce = max($0.mostAtOnce, $0.callers)
        }
        await Task.yield()
        return try state.withLock { state in
            state.callers -= 1
            guard request.refreshToken == "refresh-\(state.generation)" else { throw TokenRefreshError.rejected }
            state.generation += 1
            let name = request.audience?.name ?? "main"
            state.calls.append("\(name) with \(request.refreshToken)")
            return TokenRefreshResult(
                accessToken: "\(name)-\(state.generation)", refreshToken: "refresh-\(state.generation)",
                expiresIn: .seconds(3_600))
        }
    }
}

/// The providers of the access tokens of several audiences.
@Suite(.timeLimit(.minutes(10))) struct AudienceProviderTests {
    private func signedIn(_ server: AudienceServer) async throws -> TokenRefreshCoordinator {
        let engine = TokenRefreshCoordinator(store: RecordingTokenStore(clock: ManualTimeSource()), handler: server)
        try await engine.signIn(
            TokenRefreshResult(accessToken: "main-0", refreshToken: "refresh-0", expiresIn: .seconds(3_600)))
        return engine
    }

    @Test func `G1: a thousand requests of three audiences cause three calls, in turn, and nobody is signed out`()
        async throws
    {
        let server = AudienceServer()
        let engine = try await signedIn(server)
        let old = try await engine.token()
        let providers: [any TokenProvider] = [engine, engine.tokens(for: .files), engine.tokens(for: .mail)]
        try await withThrowingTaskGroup(of: SessionToken.self) { group in
            for number in 0..<999 {
                group.addTask {
                    let provider = providers[number % 3]
                    if number % 3 == 0 { return try await provider.replacement(for: old) }
                    return try await provider.token()
                }
            }
            var kinds: [TokenAudience?: Set<String>] = [:]
            for try await token in group { kinds[token.audience, default: []].insert(token.value) }
            #expect(kinds.count == 3 && kinds.values.allSatisfy { $0.count == 1 })
            for (audience, values) in kinds {
                #expect(values.first?.hasPrefix("\(audience?.name ?? "main")-") == true)
            }
        }
        #expect(server.calls.map { $0.split(separator: " ").last } == ["refresh-0", "refresh-1", "refresh-2"])
        #expect(server.mostAtOnce == 1)
        #expect(engine.state == .signedIn(old.session))
    }

    @Test func `G18: a valid token of an audience is at hand, and the machine is not asked`() async throws {
        let engine = try await signedIn(AudienceServer())
        let files = engine.tokens(for: .files)
        #expect(files.validToken == nil)
        let token = try await files.token()
        #expect(files.validToken == token)
        let steps = engine.core.withLock { $0.nextNumber() }
        for _ in 0..<1_000 { _ = try await files.token() }
        #expect(engine.core.withLock { $0.nextNumber() } == steps + 1)
        try await engine.signOut()
        #expect(files.validToken == nil)
    }

    @Test func `G15: a request gets a token of its own audience, whichever token it has carried`() async throws {
        let server = AudienceServer()
        let engine = try await signedIn(server)
        let (main, files) = (try await engine.token(), try await engine.tokens(for: .files).token())
        #expect(try await engine.tokens(for: .files).replacement(for: main) == files)
        #expect(try await engine.replacement(for: files).value == "main-0")
        #expect(server.calls.count == 1)
        let other = SessionToken(value: "x", session: SessionID(), generation: 0)
        let error = await #expect(throws: AuthenticationError.self) {
            try await engine.tokens(for: .files).replacement(for: other)
        }
        #expect(error?.code == .sessionEnded)
    }

    @Test func `a handler that does not list an audience is not called for it`() async throws {
        let server = AudienceServer([.files])
        let engine = try await signedIn(server)
        let error = await #expect(throws: AuthenticationError.self) { try await engine.tokens(for: .mail).token() }
        #expect(error?.code == .audienceNotListed)
        #expect(server.calls.isEmpty)
        #expect(ScriptedRefreshHandler().audiences.isEmpty)
    }
}
