#if PostgreSQL
import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// The line to the test, which is also the authorization server.
///
/// The peer says `refresh NUMBER TOKEN KEY`; the test says `tokens NUMBER ACCESS REFRESH`, `rejected NUMBER`, and
/// once, to begin with, `go`.
final class TestLine: TokenRefreshHandler {
    private struct State {
        var number = 0
        var calls: [Int: CheckedContinuation<[String], Never>] = [:]
        var start: CheckedContinuation<Void, Never>?
        var end: CheckedContinuation<Void, Never>?
        var hasBegun = false
    }

    private let state = Locked(State())
    private let writing = Locked(FileHandle.standardOutput)

    init() {
        Thread.detachNewThread { [weak self] in
            while let line = readLine() { self?.hear(line.split(separator: " ").map(String.init)) }
            exit(0)
        }
    }

    func say(_ line: String) {
        writing.withLock { try? $0.write(contentsOf: Data("\(line)\n".utf8)) }
    }

    /// Waits for the word to begin.
    func go() async {
        await withCheckedContinuation { continuation in
            let hasBegun = state.withLock { state in
                if !state.hasBegun { state.start = continuation }
                return state.hasBegun
            }
            if hasBegun { continuation.resume() }
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
            say("refresh \(number) \(request.refreshToken) \(request.idempotencyKey)")
        }
        guard response.count == 2 else { throw TokenRefreshError.rejected }
        return TokenRefreshResult(accessToken: response[0], refreshToken: response[1])
    }

    private func hear(_ words: [String]) {
        if words.first == "go" {
            let start = state.withLock { state in
                state.hasBegun = true
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
