import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import Testing

@testable import TokenRefresh

/// G20, G24, G32: what an application needs of a session besides tokens.
@Suite(.timeLimit(.minutes(10))) struct SessionNeedsTests {
    /// A bench whose handler uses the engine in its first calls, and then returns tokens.
    private func bench(
        calls: Int = 1,
        _ use: @escaping @Sendable (TokenRefreshCoordinator, TokenRefreshRequest) async throws -> Void
    ) -> Bench {
        let bench = Bench(holding: .fixture())
        for _ in 1...calls {
            bench.handler.add(
                .custom { request, _ in
                    try await use(bench.engine, request)
                    return .fixture(ordinal: 1)
                })
        }
        return bench
    }

    @Test func `G20: a handler that asks its own session for a token fails, and the session stays`() async throws {
        let codes = Locked<[String?]>([])
        let bench = bench { engine, request in
            let token = SessionToken(value: request.accessToken, session: request.session, generation: 0)
            let replaced = await code { _ = try await engine.replacement(for: token) }
            let refreshed = await code { try await engine.refresh() }
            // Nor is the end of its refresh waited for.
            let isSettled = await engine.settle()
            codes.withLock { $0 = [replaced, refreshed, isSettled ? "settled" : "not settled"] }
            throw AuthenticationError(.insideRefresh)
        }
        let token = try await bench.engine.token()
        #expect(await bench.refuse(token).outcomes() == ["refreshUnavailable"])
        #expect(codes.withLock { $0 } == ["insideRefresh", "insideRefresh", "not settled"])
        #expect(bench.engine.state == .signedIn(token.session))
    }

    @Test func `G20: a task of a handler may ask for a token once the handler has returned`() async throws {
        let gate = Gate()
        let tasks = Locked<(inside: Task<String?, Never>, after: Task<String?, Never>)?>(nil)
        let bench = bench { engine, _ in
            let inside = Task { await code { try await engine.refresh() } }
            let after = Task {
                await gate.pass()
                return await code { try await engine.refresh() }
            }
            tasks.withLock { $0 = (inside, after) }
            _ = await inside.value
        }
        try await bench.engine.refresh()
        gate.open()
        let (inside, after) = try #require(tasks.withLock { $0 })
        #expect(await inside.value == "insideRefresh", "it may be what the handler waits for")
        #expect(await after.value == nil)
    }

    @Test func `G20: a revocation handler that waits for its own end, or signs out, is not waited for`() async throws {
        let bench = try await Bench.signedIn()
        let results = Locked<[Bool]>([])
        bench.revocation.onCall { [weak bench] in
            let isSettled = await bench?.engine.settle() ?? true
            try await bench?.engine.signOut()
            results.withLock { $0.append(isSettled) }
        }
        try await bench.engine.signOut()
        #expect(results.withLock { $0 } == [false])
        #expect(await bench.engine.settle())
    }

    @Test func `a refresh inherits neither the priority nor the task-locals of its first request`() async throws {
        let seen = Locked<[(priority: TaskPriority, mark: String)]>([])
        let bench = bench(calls: 2) { _, _ in
            let priority = withUnsafeCurrentTask { $0?.priority } ?? .background
            seen.withLock { $0.append((priority, Self.mark)) }
        }
        for priority in [TaskPriority.background, .high] {
            _ = try await Task.detached(priority: priority) {
                try await Self.$mark.withValue("request") { try await bench.engine.refresh() }
            }.value
        }
        #expect(seen.withLock { $0.map(\.priority) } == [.medium, .medium])
        #expect(seen.withLock { $0.map(\.mark) } == ["none", "none"])
    }

    @TaskLocal private static var mark = "none"

    /// A step-up page ends in another request of a server than the one that was challenged, often on another host.
    @Test func `G32: a step-up by an engine that has not read its store is one of the stored session`() async throws {
        let (bench, ada) = (Bench(.shared), TokenSubject(issuer: "https://issuer.example", id: "ada"))
        var login = bench.server.signIn("ada")
        login.subject = ada
        try await bench.engine.signIn(login)
        let session = bench.engine.state
        let other = bench.other()
        let high = TokenRefreshResult(accessToken: "access-high", refreshToken: "refresh-high", subject: ada)
        let gate = bench.store.hold(.load)
        let stepping = Task { try await other.stepUp(high) }
        try await gate.arrivals(atLeast: 1)
        // It is completed all the same.
        stepping.cancel()
        gate.open()
        _ = await stepping.result
        #expect(await other.settle())
        #expect(other.state == session && bench.store.base.bundle?.accessToken == "access-high")
        #expect(bench.store.base.bundle?.refreshToken == "refresh-high")
        #expect(bench.revocation.revoked == [])
    }

    @Test(arguments: Bench.StoreKind.allCases)
    func `G24: state, event and status say why a session ended, without a secret`(kind: Bench.StoreKind) async throws {
        let bench = try await Bench.signedIn(kind)
        let error = TokenRefreshError(.rejected, status: 400, serverCode: "invalid_grant", requestID: "r-9")
        bench.handler.add(.failure(error))
        #expect(await bench.refuse(try await bench.engine.token()).outcomes() == ["sessionEnded"])
        let ending = try #require(bench.engine.state.ending)
        #expect(ending.status == 400 && ending.code == "invalid_grant" && ending.requestID == "r-9")
        #expect(ending.process?.hasPrefix(ProcessIdentity.current.process) == true && ending.date != nil)
        let last = try #require(bench.engine.status.lastEnding)
        #expect(SessionState.signedOut(last).ending == ending)
        // Another process finds the note in the store, and says the same.
        if kind == .shared { #expect(try await bench.other().restore().ending == ending) }
    }
}
