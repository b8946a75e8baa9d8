import AuthInterface
import CoreMetrics
import DataAPI
import Foundation
import InMemoryLogging
import Logging
import MetricsTestKit
import NetworkAsyncHTTPClient
import NetworkCore
import NotesServer
import ServerWorker
import ServiceLifecycle
import Storage
import Testing

@Suite(.timeLimit(.minutes(20))) struct ServerWorkerTests {
    private let metrics = TestMetrics()
    private let log = InMemoryLogHandler()

    /// Runs two workers, as on two hosts, until each has done a job, and then some more. The store that they share
    /// stands for a database, whose store keeps the same contract.
    private func work(on server: NotesServer, more jobs: Int, afterTheFirst: () -> Void) async throws {
        let tokens = server.signIn()
        let store = MemoryTokenStore(
            holding: TokenBundle(accessToken: tokens.accessToken, refreshToken: tokens.refreshToken))
        let api = NetworkClient(baseURL: server.url, transport: AsyncHTTPClientTransport())
        let report = SessionReport(Logger(label: "worker") { [log] _ in log }, factory: metrics)
        let (finished, finish) = AsyncStream.makeStream(of: Void.self)
        let queues = (0..<2).map { _ in AsyncStream.makeStream(of: Void.self) }
        let workers = queues.map { queue in
            NotesWorker(
                jobs: queue.stream, store: store, api: api, handler: RESTTokenRefreshHandler(network: api),
                report: report
            ) { _, network in
                defer { finish.yield() }
                _ = try await network.send(.request(.get, "notes"))
            }
        }
        let group = ServiceGroup(services: workers, logger: Logger(label: "group") { _ in SwiftLogNoOpLogHandler() })
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            var done = finished.makeAsyncIterator()
            for (round, count) in [1, jobs].enumerated() {
                for queue in queues { for _ in 0..<count { queue.continuation.yield() } }
                for _ in 0..<2 * count { await done.next() }
                if round == 0 { afterTheFirst() }
            }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    /// Waits for a count: the engine's events come at any time.
    private func until(_ label: String, _ outcome: String, is expected: Int64) async {
        while count(label, outcome) != expected, !Task.isCancelled { await Task.yield() }
    }

    private func count(_ label: String, _ outcome: String) -> Int64 {
        (try? metrics.expectCounter(label, [("outcome", outcome)]).totalValue) ?? 0
    }

    @Test func `the hosts of a fleet refresh once, and finish their jobs before a shutdown`() async throws {
        try await NotesServer.run { server in
            try await work(on: server, more: 5, afterTheFirst: server.expireTokens)
            #expect(server.refreshes == 1 && !server.sawReuse)
            #expect(count("jobs", "done") == 12 && count("jobs", "failed") == 0)
            await until("session_events", "refreshed", is: 1)
            await until("session_events", "adopted", is: 1)
        }
    }

    @Test func `the end of the session is an error of the log, without a token`() async throws {
        try await NotesServer.run { server in
            try await work(on: server, more: 1) { server.endSession(of: "ada") }
            #expect(count("jobs", "done") == 2 && count("jobs", "failed") == 2)
            await until("session_events", "signedOut", is: 2)
            while !log.entries.contains(where: { $0.message == "signedOut" }), !Task.isCancelled { await Task.yield() }
            #expect(log.entries.filter { $0.message == "signedOut" }.allSatisfy { $0.level == .error })
            #expect(!"\(log.entries)".contains("-ada1-"))
        }
    }
}
