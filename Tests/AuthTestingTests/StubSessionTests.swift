import AuthInterface
import AuthTesting
import ContractTesting
import TestSupport
import Testing
import TokenRefresh

/// `StubSession` stands for the engine in tests of applications, so it behaves as the engine does.
@Suite(.timeLimit(.minutes(10))) struct StubSessionTests {
    @Test func `a stub session responds to a whole life as an engine does`() async throws {
        let engine = TokenRefreshCoordinator(
            store: RecordingTokenStore(), handler: ScriptedRefreshHandler(), clock: ManualTimeSource())
        let expected = await Self.life(of: engine)
        #expect(await Self.life(of: StubSession(.unknown)) == expected)
        #expect(expected.contains("a token of an earlier session: sessionEnded"))
        #expect(expected.contains { $0.hasPrefix("a step-up of ada") && $0.hasSuffix("g1, the same session") })
        #expect(expected.contains { $0.hasPrefix("a step-up of eve") && $0.hasSuffix("g0, another session") })
        #expect(expected.contains("the same refused token again: access-ada1-1"))
    }

    /// What a session responds to each call, and what its stream has shown.
    private static func life(of session: some AuthSession & TokenProvider) async -> [String] {
        let states = session.states
        let shown = Task {
            var shown: [String] = []
            for await state in states {
                shown.append(name(state))
                if state == .signedOut(.application("end")) { break }
            }
            return shown
        }
        var log: [String] = [name(session.state)]
        func note(_ call: String, _ response: () async throws -> String) async {
            do { log.append("\(call): \(try await response())") } catch let error as AuthenticationError {
                log.append("\(call): \(error.code)")
            } catch { log.append("\(call): \(type(of: error))") }
        }
        await note("restored") { name(try await session.restore()) }
        await note("a token without a session") { try await session.token().value }
        await note("a refresh without a session") { name(try await session.refresh()) }
        await note("tokens that no field carries") {
            try await session.signIn(TokenRefreshResult(accessToken: "two words"))
            return name(session.state)
        }
        try? await session.signIn(.fixture())
        let first = try? await session.token()
        await note("signed in") { name(session.state) }
        if let first {
            await note("a refused token") { try await session.replacement(for: first).value }
            await note("the same refused token again") { try await session.replacement(for: first).value }
            await note("the current token") { try await session.token().value }
            try? await session.signIn(.fixture("bob1", isRotated: false))
            await note("a token of an earlier session") { try await session.replacement(for: first).value }
        }
        await note("another token") { try await session.token().value }
        for user in ["ada", "ada", "eve"] {
            var tokens = TokenRefreshResult.fixture("\(user)2")
            tokens.subject = TokenSubject(issuer: "https://issuer.example", id: user)
            let before = session.state
            await note("a step-up of \(user)") {
                try await session.stepUp(tokens)
                let token = try await session.token()
                return
                    "\(token.value) g\(token.generation), \(session.state == before ? "the same" : "another") session"
            }
        }
        try? await session.signIn(.fixture("bob1", isRotated: false))
        await note("a refresh without a refresh token") { name(try await session.refresh()) }
        await note("signed out") {
            try await session.signOut()
            return name(session.state)
        }
        await note("signed out twice") {
            try await session.signOut(reason: .application("again"))
            return name(session.state)
        }
        await note("a token after the end") { try await session.token().value }
        try? await session.signIn(.fixture())
        try? await session.signOut(reason: .application("end"))
        return log + (await shown.value)
    }

    private static func name(_ state: SessionState) -> String {
        if case .signedIn = state { "signed in" } else { "\(state)" }
    }

    @Test func `a script fails calls, changes the state in between, and ends`() async throws {
        let session = StubSession()
        session.fail(.refresh, times: 1, with: AuthenticationError(.refreshUnavailable))
        await #expect(throws: AuthenticationError.self) { try await session.refresh() }
        try await session.refresh()
        #expect(try await session.token().generation == 1)

        session.on(.refresh) { $0.state = .signedOut(.expired()) }
        #expect(try await session.refresh() == .signedOut(.expired()))
        session.recover(.refresh)
        #expect(session.calls == [.refresh, .refresh, .token, .refresh])

        session.fail(.signOut, with: AuthenticationError(.storeUnavailable))
        session.state = .signedIn(SessionID(rawValue: "next"))
        await #expect(throws: AuthenticationError.self) { try await session.signOut() }
        #expect(session.state == .signedOut(.byUser), "a session has ended even where its sign-out fails")
    }

    @Test func `a reader receives each state once, and its stream ends with the session`() async throws {
        var session: StubSession? = StubSession(.unknown)
        let states = try #require(session).states
        session?.state = .signedIn(SessionID(rawValue: "ada"))
        session?.state = .signedIn(SessionID(rawValue: "ada"))
        session?.state = .signedOut(.byUser)
        session = nil
        var received: [SessionState] = []
        for await state in states { received.append(state) }
        #expect(received == [.unknown, .signedIn(SessionID(rawValue: "ada")), .signedOut(.byUser)])
    }

    @Test func `a cancelled call returns at once, and a call can wait at a gate`() async throws {
        let (session, gate) = (StubSession(), Gate())
        session.on(.token, times: 1) { _ in try await gate.passUnlessCancelled() }
        let waiting = Task { try await session.token() }
        try await gate.arrivals(atLeast: 1)
        await expectCancellation(of: waiting)
        #expect(try await session.token().value == "access-ada1-0")
    }
}
