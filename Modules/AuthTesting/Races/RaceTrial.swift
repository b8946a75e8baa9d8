import AuthInterface
import ConcurrencyPrimitives
import ContractTesting

/// One run of a race: the scene, the subject, and the steps and expectations of the race.
final class RaceTrial: Sendable {
    typealias Caller = Task<String, any Error>

    /// Ada's token after one refresh.
    static let refreshed = TokenRefreshResult.fixture(ordinal: 1).accessToken

    let scene = RaceScene()

    private struct State {
        var subject: RaceSubject?
        var step = "making the subject"
        var gates: [Gate] = []
        var callers: [Caller] = []
        var started = 0
        var returned = 0
    }

    private let state = Locked(State())
    private let makeSubject: @Sendable (RaceScene) async throws -> RaceSubject

    init(makeSubject: @escaping @Sendable (RaceScene) async throws -> RaceSubject) { self.makeSubject = makeSubject }

    /// The current step, for the report of a race that hangs.
    var step: String { state.withLock { $0.step } }

    /// The number of callers that have returned.
    var returned: Int { state.withLock { $0.returned } }

    var calls: Int { scene.handler.calls.count }

    // MARK: Steps

    func at(_ step: String) { state.withLock { $0.step = step } }

    func subject() async throws -> RaceSubject {
        if let subject = state.withLock({ $0.subject }) { return subject }
        let subject = try await makeSubject(scene)
        state.withLock { $0.subject = subject }
        return subject
    }

    /// Signs a user in and returns the token of the first request.
    func signIn(_ user: String = "ada") async throws -> String {
        at("signing \(user) in")
        try await subject().signIn(scene.server.signIn(user))
        at("requesting \(user)'s first token")
        return try await subject().token()
    }

    /// A gate that is opened when the race has ended.
    func gate() -> Gate {
        let gate = Gate()
        state.withLock { $0.gates.append(gate) }
        return gate
    }

    /// Starts requests that need another token because the server has refused theirs.
    func refuse(_ token: String, times count: Int = 1) async throws -> [Caller] {
        let replacement = try await subject().replacement
        return try await start(count) { try await replacement(token) }
    }

    func request(times count: Int = 1) async throws -> [Caller] { try await start(count, try await subject().token) }

    /// Starts callers whose refresh is held at a gate, and returns when the handler has been called. The server has
    /// refused their token; `nil`: the one that they request has expired. `response` is what the handler does with the
    /// gate.
    func holdRefresh(
        of refused: String?, times count: Int = 10,
        _ response: (Gate) -> ScriptedRefreshHandler.Response = { .held(at: $0, then: .rotate) }
    ) async throws -> (callers: [Caller], gate: Gate) {
        let gate = gate()
        scene.handler.add(response(gate))
        let callers =
            if let refused { try await refuse(refused, times: count) } else { try await request(times: count) }
        at("waiting for the handler to be called\(refused == nil ? " because the token has expired" : "")")
        try await scene.handler.calls(atLeast: 1)
        await settle()
        return (callers, gate)
    }

    /// Starts callers, and returns when all have started: a late caller would be another race.
    private func start(
        _ count: Int, _ request: @escaping @Sendable () async throws -> String
    ) async throws -> [Caller] {
        let total = state.withLock { $0.callers.count } + count
        let callers = (0..<count).map { _ in
            Task {
                state.withLock { $0.started += 1 }
                defer { state.withLock { $0.returned += 1 } }
                return try await request()
            }
        }
        state.withLock { $0.callers += callers }
        try await until { state.withLock { $0.started } == total }
        return callers
    }

    /// Gives other tasks time to run.
    func settle() async { for _ in 0..<100 { await Task.yield() } }

    /// Waits for a condition that reports no change. The time limit of the race ends the wait.
    func until(_ condition: () async -> Bool) async throws {
        while !(await condition()) {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// Waits for a condition while the clocks advance: ten hours at most, so that no token expires.
    func untilInTime(_ condition: () async -> Bool) async throws {
        var minutes = 0
        try await until {
            if minutes < 600 { scene.clock.advance(by: .seconds(60)) }
            minutes += 1
            return await condition()
        }
    }

    func cleanUp() {
        let state = state.withLock { $0 }
        for gate in state.gates { gate.open() }
        for caller in state.callers { caller.cancel() }
    }

    // MARK: Expectations

    /// Waits for callers, which must all get this token.
    func expectAll(_ callers: [Caller], toGet token: String) async throws {
        at("waiting for \(callers.count) callers to get a token")
        var failures: [any Error] = []
        var others = 0
        for caller in callers {
            switch await caller.result {
            case .success(let value): if value != token { others += 1 }
            case .failure(let error): failures.append(error)
            }
        }
        let first = failures.first.map { ", the first with \($0)" } ?? ""
        try expect(failures.isEmpty, otherwise: "\(failures.count) of \(callers.count) callers failed\(first)")
        try expect(others == 0, otherwise: "\(others) of \(callers.count) callers got another token")
    }

    /// Waits for callers, which must all fail.
    func expectFailure(of callers: [Caller], because reason: String) async throws {
        at("waiting for \(callers.count) callers to fail")
        for caller in callers {
            if case .success(let token) = await caller.result {
                let name = IssuedToken(token).map { "\($0.login)'s token no. \($0.ordinal)" } ?? "a token"
                throw RuleBroken("\(reason), a caller got \(name)")
            }
        }
    }

    /// Waits for callers, which must all get this token from one call. More calls are reported rather than what the
    /// callers got: they are its cause.
    func expectOneCall(for callers: [Caller], toGet token: String) async throws {
        do { try await expectAll(callers, toGet: token) } catch {
            try expectCalls(1)
            throw error
        }
        try expectCalls(1)
    }

    func expectCalls(_ count: Int) throws {
        let calls = calls
        try expect(calls == count, otherwise: "the handler was called \(calls) times instead of \(count)")
        let reuses = scene.server.reuses
        try expect(reuses == 0, otherwise: "a used refresh token was used again, \(reuses) times")
    }

    /// The subject must use this token now, without another call.
    func expectToken(_ token: String, _ occasion: String) async throws {
        at("requesting a token \(occasion)")
        let now: String
        do { now = try await subject().token() } catch {
            throw RuleBroken("\(occasion) the session has no token: \(error)")
        }
        try expect(now == token, otherwise: "\(occasion) the subject uses another token")
    }

    /// The user must not have been notified of the session's end.
    func expectNoEnding(_ occasion: String) async throws {
        let endings = try await subject().endings?() ?? 0
        try expect(endings == 0, otherwise: "\(occasion) the user was notified that the session has ended")
    }
}
