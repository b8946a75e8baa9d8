import AuthInterface
import AuthTesting
import ContractTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct ScriptedRefreshHandlerTests {
    private struct Scripted: Error {}

    @Test func `a rotating server exchanges the current refresh token only`() throws {
        let server = RotatingTokenServer(lifetime: .seconds(60))
        #expect(server.signIn() == .fixture(expiresIn: .seconds(60)))
        #expect(try server.refresh("refresh-ada1-0") == .fixture(ordinal: 1, expiresIn: .seconds(60)))
        #expect(server.accepts("access-ada1-0") && server.accepts("access-ada1-1"))
        #expect(!server.accepts("access-ada1-2") && !server.accepts("refresh-ada1-1") && !server.accepts("access"))
        #expect(server.refreshes == 1 && server.rotations == 1 && server.reuses == 0)
    }

    @Test func `a used refresh token revokes its family, with any key, and no other`() throws {
        let server = RotatingTokenServer()
        _ = (server.signIn(), server.signIn(), server.signIn("bob"))
        _ = try server.refresh("refresh-ada1-0", key: "k0")
        #expect(code { try server.refresh("refresh-ada1-0", key: "k0") } == .rejected)
        #expect(code { try server.refresh("refresh-ada1-1") } == .rejected, "the family is revoked")
        #expect(!server.accepts("access-ada1-1") && server.accepts("access-ada2-0"))
        #expect(try server.refresh("refresh-bob1-0") == .fixture("bob1", ordinal: 1))
        #expect(server.reuses == 1 && server.refreshes == 4 && server.rotations == 2)
    }

    @Test func `within a grace period the last used token returns the same pair again`() throws {
        let server = RotatingTokenServer(tolerating: .within(.seconds(10)))
        _ = server.signIn()
        let first = try server.refresh("refresh-ada1-0")
        #expect(try server.refresh("refresh-ada1-0") == first)
        _ = try server.refresh("refresh-ada1-1")
        #expect(code { try server.refresh("refresh-ada1-0") } == .rejected)
    }

    @Test func `G12: the last used token returns the same pair again with its own key`() throws {
        let server = RotatingTokenServer(tolerating: .sameKey)
        _ = (server.signIn(), server.signIn("bob"))
        let first = try server.refresh("refresh-ada1-0", key: "k0")
        #expect(try server.refresh("refresh-ada1-0", key: "k0") == first)
        #expect(try server.refresh("refresh-ada1-0", key: "k0") == first)
        _ = try server.refresh("refresh-ada1-1", key: "k1")
        #expect(server.rotations == 2 && server.repetitions == 2 && server.reuses == 0)

        #expect(code { try server.refresh("refresh-ada1-0", key: "k0") } == .rejected)
        #expect(server.accepts("access-ada1-2"), "an older token with its own key is rejected, and is not theft")
        #expect(server.reuses == 0)
        #expect(try server.refresh("refresh-ada1-1", key: "k1") == .fixture(ordinal: 2))

        #expect(code { try server.refresh("refresh-ada1-1", key: "k0") } == .rejected)
        #expect(!server.accepts("access-ada1-2") && server.reuses == 1)
        #expect(code { try server.refresh("refresh-ada1-1", key: "k1") } == .rejected, "the family is revoked")

        _ = try server.refresh("refresh-bob1-0")
        #expect(code { try server.refresh("refresh-bob1-0", key: "") } == .rejected, "an empty key is no key")
        #expect(server.reuses == 2)
    }

    @Test func `an unknown login starts with its first refresh token, and a revoked one is rejected`() throws {
        let server = RotatingTokenServer()
        let stored = TokenBundle.fixture("eve7", generation: 4)
        #expect(stored.session == SessionID(rawValue: "eve7"))
        #expect(try server.refresh(#require(stored.refreshToken)) == .fixture("eve7", ordinal: 5))
        server.revoke(stored.accessToken)
        #expect(code { try server.refresh("refresh-eve7-5") } == .rejected)
        for unknown in ["", "refresh", "access-ada1-0", "refresh-ada1--1", "refresh--0", "refresh-ada1-x"] {
            #expect(code { try server.refresh(unknown) } == .rejected)
        }
    }

    @Test func `scripted responses come in order, then the fallback, and recorded calls show no token`() async throws {
        let handler = ScriptedRefreshHandler(
            .tokens(.fixture("eve1", ordinal: 9)), .failure(Scripted()),
            .custom { request, server in
                _ = try server.refresh(request)
                throw Scripted()
            },
            otherwise: .failure(TokenRefreshError.rejected))
        handler.add(.rotate)
        func refresh(_ token: String) async throws -> TokenRefreshResult {
            try await handler.refresh(TokenRefreshRequest(refreshToken: token))
        }
        #expect(try await refresh("refresh-ada1-0") == .fixture("eve1", ordinal: 9))
        for _ in 1...2 { await #expect(throws: Scripted.self) { try await refresh("refresh-ada1-0") } }
        #expect(handler.leftovers.count == 1 && handler.server.rotations == 1, "the lost response was a rotation")
        #expect(try await refresh("refresh-ada1-1") == .fixture(ordinal: 2))
        await #expect(throws: TokenRefreshError.self) { try await refresh("other") }
        #expect(handler.calls.map(\.ordinal) == [0, 0, 0, 1, nil])
        #expect(handler.calls.map(\.login) == ["ada1", "ada1", "ada1", "ada1", nil])
        #expect(handler.mostAtOnce == 1)
        #expect(!"\(handler.calls)".contains("refresh-"))
    }

    @Test func `idempotency keys reach the server and the recorded calls, and are not shown`() async throws {
        let handler = ScriptedRefreshHandler(
            replayTolerance: .sameKey, server: RotatingTokenServer(tolerating: .sameKey))
        #expect(handler.replayTolerance == .sameKey)
        let request = TokenRefreshRequest(refreshToken: "refresh-ada1-0", idempotencyKey: "s3cret")
        for _ in 1...2 { #expect(try await handler.refresh(request) == .fixture(ordinal: 1)) }
        #expect(handler.server.repetitions == 1)
        #expect(handler.calls.map(\.idempotencyKey) == ["s3cret", "s3cret"])
        var text = "\(handler.calls)"
        dump(handler.calls, to: &text)
        #expect(!text.contains("s3cret") && text.contains("with a key"))
    }

    @Test func `a held response ignores cancellation; a late response and a hanging call do not`() async throws {
        let gate = Gate()
        let handler = ScriptedRefreshHandler(.held(at: gate, then: .rotate), .rotateThenHold(at: gate), .hang)
        let calls = (0..<3).map { _ in
            Task { try await handler.refresh(TokenRefreshRequest(refreshToken: "refresh-ada1-0")) }
        }
        try await handler.calls(atLeast: 3)
        try await gate.arrivals(atLeast: 2)
        #expect(handler.mostAtOnce == 3)
        #expect(handler.server.rotations == 1, "a late response is that of a rotation which is done")
        for call in calls { call.cancel() }
        gate.open()
        var errors: [any Error] = []
        for call in calls { if case .failure(let error) = await call.result { errors.append(error) } }
        #expect(errors.count >= 2 && errors.allSatisfy { $0 is CancellationError || $0 is TokenRefreshError })
        #expect(handler.server.refreshes == 2, "the hanging call reached no server")
    }

    private func code(_ refresh: () throws -> TokenRefreshResult) -> TokenRefreshError.Code? {
        #expect(throws: TokenRefreshError.self) { try refresh() }?.code
    }
}
