#if PostgreSQL
import AuthInterface
import ConcurrencyPrimitives
import Foundation
import TestSupport

/// Processes that share one session in a database. Their output is in one journal, each line with the process's number.
final class Fleet: Sendable {
    /// One process.
    struct Peer: Sendable {
        let number: Int
        let process: ChildProcess
    }

    let journal = Journal()

    private let peers: Locked<[Peer]>
    private let server: FleetTokenServer

    /// Starts processes, and waits until all are ready.
    init(
        of count: Int,
        at connection: String,
        account: String,
        until generation: Int,
        server: FleetTokenServer
    ) async throws {
        self.server = server
        peers = Locked([])
        for number in 1...count {
            let process = try ChildProcess(SpawnedProcess.peer, ["fleet", connection, account, "\(generation)"]) {
                [weak self] line in
                self?.hear(line, from: number)
            }
            peers.withLock { $0.append(Peer(number: number, process: process)) }
        }
        _ = await journal.waitFor(count) { $0.hasSuffix(" ready") }
    }

    /// Starts all at once.
    func go() throws {
        for peer in peers.withLock({ $0 }) { try peer.process.write("go") }
    }

    /// Waits until a number of processes are done.
    ///
    /// - Returns: The last generation and tokens of each.
    func results(of count: Int) async -> [String] {
        _ = await journal.waitFor(count) { $0.contains(" done ") }
        return journal.lines.compactMap { $0.components(separatedBy: " done ").dropFirst().first }
    }

    /// Ends all processes.
    func finish() async {
        for peer in peers.withLock({ $0 }) { await peer.process.finish() }
    }

    /// The number of lines that contain some words.
    func count(_ words: String) -> Int { journal.lines.count { $0.contains(" \(words)") } }

    private func hear(_ line: String?, from number: Int) {
        guard let line else {
            journal.append("\(number) ended")
            return
        }
        journal.append("\(number) \(line)")
        let words = line.split(separator: " ").map(String.init)
        guard words.count == 4, words[0] == "refresh" else { return }
        Task {
            guard let peer = peers.withLock({ $0.first { $0.number == number } }) else { return }
            guard let response = await server.exchange(words[2], key: words[3], for: peer) else { return }
            try? peer.process.write(
                ([response.isEmpty ? "rejected" : "tokens", words[1]] + response).joined(separator: " "))
        }
    }
}
#endif
