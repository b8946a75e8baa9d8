#if PostgreSQL
import AuthInterface
import ConcurrencyPrimitives
import Foundation
import TestSupport

/// Processes that share one session in a database.
final class Fleet: Sendable {
    private let processes: [SpawnedProcess]
    private let server: FleetTokenServer

    /// The lines of all processes, each after the index of its process.
    private let lines = Locked<[String]>([])
    private let reports = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// Starts processes, and waits until all are ready.
    init(
        of count: Int,
        at connection: String,
        account: String,
        until generation: Int,
        server: FleetTokenServer
    ) async throws {
        self.server = server
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

    /// Starts all at once.
    func go() throws {
        for process in processes { try process.write("go\n") }
    }

    /// Waits until a number of processes are done.
    ///
    /// - Returns: The last generation and tokens of each.
    func results(of count: Int) async -> [String] {
        await wait(for: count, containing: " done ")
        return lines.withLock { $0 }.compactMap { $0.components(separatedBy: " done ").dropFirst().first }
    }

    /// Ends all processes.
    func finish() async {
        for process in processes {
            try? process.finishInput()
            _ = await process.end()
        }
    }

    /// The number of lines that contain some words.
    func count(_ words: String) -> Int { lines.withLock { $0 }.count { $0.contains(" \(words)") } }

    private func wait(for count: Int, containing words: String) async {
        while lines.withLock({ $0 }).count(where: { $0.contains(words) }) < count {
            guard await reports.stream.first(where: { true }) != nil else { return }
        }
    }

    private func receive(_ line: String, from index: Int) {
        let process = processes[index]
        lines.withLock { $0.append("\(index) \(line)") }
        reports.continuation.yield()
        let words = line.split(separator: " ").map(String.init)
        guard words.count == 4, words[0] == "refresh" else { return }
        Task {
            guard let response = await server.exchange(words[2], key: words[3], for: process) else { return }
            try? process.write(
                ([response.isEmpty ? "rejected" : "tokens", words[1]] + response).joined(separator: " ") + "\n")
        }
    }
}
#endif
