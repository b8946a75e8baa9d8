#if PostgreSQL
import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import Foundation
import TestSupport

/// Processes that share one session in a database, and the authorization server at which they refresh. It rotates
/// tokens, honours idempotency keys, and counts.
final class Fleet: Sendable {
    /// What a test does between a rotation and its response, by the number of the refresh, from 1 on. The process gets
    /// the response if the result is true, and is killed otherwise.
    typealias Plan = @Sendable (_ number: Int) async -> Bool

    private struct State {
        /// The lines of all processes, each after the index of its process.
        var lines: [String] = []
        var requests = 0
        var underWay = 0
        var mostAtOnce = 0
    }

    let server: RotatingTokenServer

    /// The most refreshes that were under way at one time.
    var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }

    private let processes: [SpawnedProcess]
    private let plan: Plan
    private let state = Locked(State())
    private let reports = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// Starts processes, and waits until all are ready.
    init(
        of count: Int, at connection: String, account: String, until generation: Int, server: RotatingTokenServer,
        plan: @escaping Plan
    ) async throws {
        self.server = server
        self.plan = plan
        processes = try (1...count).map { _ in
            try SpawnedProcess(SpawnedProcess.peer, ["fleet", connection, account, "\(generation)"])
        }
        for (index, process) in processes.enumerated() {
            Task { [weak self, lines = process.lines] in
                for await line in lines { self?.receive(line, from: index) }
            }
        }
        await wait(for: count, containing: " ready")
    }

    func go() throws {
        for process in processes { try process.write("go\n") }
    }

    /// Waits until a number of processes are done, and returns the last generation and tokens of each.
    func results(of count: Int) async -> [String] {
        await wait(for: count, containing: " done ")
        return state.withLock { $0.lines }.compactMap { $0.components(separatedBy: " done ").dropFirst().first }
    }

    func finish() async {
        for process in processes {
            try? process.finishInput()
            _ = await process.end()
        }
    }

    func count(_ words: String) -> Int { state.withLock { $0.lines }.count { $0.contains(words) } }

    private func wait(for count: Int, containing words: String) async {
        while self.count(words) < count {
            guard await reports.stream.first(where: { true }) != nil else { return }
        }
    }

    private func receive(_ line: String, from index: Int) {
        state.withLock { $0.lines.append("\(index) \(line)") }
        reports.continuation.yield()
        let words = line.split(separator: " ").map(String.init)
        guard words.count == 4, words[0] == "refresh" else { return }
        Task { await refresh(words[2], key: words[3], request: words[1], of: processes[index]) }
    }

    /// Exchanges a refresh token, and writes the response to its process.
    private func refresh(_ token: String, key: String, request: String, of process: SpawnedProcess) async {
        let number = state.withLock { state in
            state.requests += 1
            state.underWay += 1
            state.mostAtOnce = max(state.mostAtOnce, state.underWay)
            return state.requests
        }
        let tokens = try? server.refresh(token, key: key)
        let isGiven = await plan(number)
        state.withLock { $0.underWay -= 1 }
        guard isGiven else { return process.kill() }
        var response = "rejected \(request)"
        if let tokens, let next = tokens.refreshToken { response = "tokens \(request) \(tokens.accessToken) \(next)" }
        try? process.write(response + "\n")
    }
}
#endif
