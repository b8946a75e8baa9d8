#if PostgreSQL
import AuthInterface
import ConcurrencyPrimitives
import Foundation
import PostgreSQLStorage
import Storage
import TokenRefresh

/// A process of a fleet with one session: it refuses every token until a generation is reached.
struct FleetPeer {
    let connection: String
    let account: String
    let goal: Int

    init?(_ arguments: [String]) {
        guard arguments.count == 3, let goal = Int(arguments[2]) else { return nil }
        connection = arguments[0]
        account = arguments[1]
        self.goal = goal
    }

    func run() async {
        let handler = FleetRefreshHandler()
        let clock = SystemTimeSource()
        let store = PostgreSQLTokenStore(connection: connection, account: account, cipher: UnencryptedTokenCipher())
        let session = TokenRefreshCoordinator(store: store, handler: handler, policy: policy, observer: Self.report)
        StandardIO.write("ready")
        await handler.start()
        var token: SessionToken?
        while token.map({ $0.generation < goal }) ?? true {
            do {
                token = if let token { try await session.replacement(for: token) } else { try await session.token() }
            } catch {
                StandardIO.write("no token: \(error)")
                if case .signedOut = session.state { break }
                // What it sends next is sent after the failure, and does not share it (G6).
                token = nil
                let pause = (error as? AuthenticationError)?.retryAfter ?? .milliseconds(100)
                try? await clock.sleep(until: clock.uptime + pause)
            }
        }
        StandardIO.write("done \(token?.generation ?? -1) \(token?.value ?? "none") \(token?.refreshToken ?? "none")")
        await handler.end()
    }

    /// Short pauses, and every token may be refused, however new it is.
    private var policy: TokenRefreshPolicy {
        var policy = TokenRefreshPolicy()
        policy.backoff = Backoff(base: .milliseconds(100), limit: .milliseconds(400), floor: .milliseconds(50))
        policy.freshness = .zero
        return policy
    }

    @Sendable private static func report(_ event: SessionEvent) {
        switch event {
        case .adopted(_, let generation): StandardIO.write("adopted \(generation)")
        case .refreshFailed(_, let error, _):
            StandardIO.write("failed \((error.cause as? TokenStoreError)?.code.rawValue ?? error.code.rawValue)")
        case .storeFailed(let error): StandardIO.write("unsaved \(error.code)")
        case .signedOut(let reason): StandardIO.write("signed out \(reason)")
        default: break
        }
    }
}

/// Asks the test, which is the authorization server, for new tokens.
///
/// It writes `refresh NUMBER TOKEN KEY`; the test responds with `tokens NUMBER ACCESS REFRESH` or `rejected NUMBER`.
/// Before that the test writes `go`.
final class FleetRefreshHandler: TokenRefreshHandler {
    private struct State {
        var number = 0
        var calls: [Int: Race<[String]>] = [:]
    }

    private let state = Locked(State())
    private let hasStarted = Race<Void>()
    private let hasEnded = Race<Void>()

    /// Reads the responses. The process ends with its input.
    init() {
        Task { [weak self] in
            for await line in StandardIO.lines() { self?.receive(line.split(separator: " ").map(String.init)) }
            exit(0)
        }
    }

    func start() async { await hasStarted.value() }

    /// Waits for the input to end, and the process with it.
    func end() async { await hasEnded.value() }

    /// The test's server repeats its result for the same key.
    var replayTolerance: ReplayTolerance { .sameKey }

    func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
        let call = Race<[String]>()
        let number = state.withLock { state in
            state.number += 1
            state.calls[state.number] = call
            return state.number
        }
        StandardIO.write("refresh \(number) \(request.refreshToken) \(request.idempotencyKey)")
        let response = await call.value()
        guard response.count == 2 else { throw TokenRefreshError.rejected }
        return TokenRefreshResult(accessToken: response[0], refreshToken: response[1])
    }

    private func receive(_ words: [String]) {
        if words.first == "go" {
            hasStarted.end(())
        } else if words.count >= 2, let number = Int(words[1]) {
            state.withLock { $0.calls.removeValue(forKey: number) }?.end(Array(words[2...]))
        }
    }
}
#endif
