#if PostgreSQL
import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// Asks the test, which is the authorization server, for new tokens.
///
/// It writes `refresh NUMBER TOKEN KEY`; the test responds with `tokens NUMBER ACCESS REFRESH` or `rejected NUMBER`.
/// Before that the test writes `go`.
final class FleetRefreshHandler: TokenRefreshHandler {
    private struct State {
        var number = 0
        var calls: [Int: CheckedContinuation<[String], Never>] = [:]
        var start: CheckedContinuation<Void, Never>?
        var end: CheckedContinuation<Void, Never>?
        var hasStarted = false
    }

    private let state = Locked(State())

    /// Reads the responses. The process ends with its input.
    init() {
        Task { [weak self] in
            for await line in StandardIO.lines() { self?.receive(line.split(separator: " ").map(String.init)) }
            exit(0)
        }
    }

    /// Waits for `go`.
    func start() async {
        await withCheckedContinuation { continuation in
            let hasStarted = state.withLock { state in
                if !state.hasStarted { state.start = continuation }
                return state.hasStarted
            }
            if hasStarted { continuation.resume() }
        }
    }

    /// Waits for the input to end, and the process with it.
    func end() async {
        await withCheckedContinuation { continuation in state.withLock { $0.end = continuation } }
    }

    /// The test's server repeats its result for the same key.
    var replayTolerance: ReplayTolerance { .sameKey }

    func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
        let response = await withCheckedContinuation { continuation in
            let number = state.withLock { state in
                state.number += 1
                state.calls[state.number] = continuation
                return state.number
            }
            StandardIO.write("refresh \(number) \(request.refreshToken) \(request.idempotencyKey)")
        }
        guard response.count == 2 else { throw TokenRefreshError.rejected }
        return TokenRefreshResult(accessToken: response[0], refreshToken: response[1])
    }

    private func receive(_ words: [String]) {
        if words.first == "go" {
            let start = state.withLock { state in
                state.hasStarted = true
                defer { state.start = nil }
                return state.start
            }
            start?.resume()
        } else if words.count >= 2, let number = Int(words[1]) {
            state.withLock { $0.calls.removeValue(forKey: number) }?.resume(returning: Array(words[2...]))
        }
    }
}
#endif
