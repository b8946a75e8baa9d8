import CoreMetrics
import DataAPI
import InMemoryLogging
import Logging
import MetricsTestKit
import NetworkAsyncHTTPClient
import NetworkCore
import NotesServer
import PostgreSQLStorage
import ServerWorker
import ServiceLifecycle
import Testing

@Suite(.enabled(if: Database.isInstalled, "the PostgreSQL server is not installed (Debian: postgresql)"))
struct ServerWorkerTests {
    private let metrics = TestMetrics()
    private let log = InMemoryLogHandler()

    /// Runs two workers, as on two hosts, until they have done their jobs.
    private func work(on server: NotesServer, _ database: Database, jobs: Int) async throws {
        let api = NetworkClient(baseURL: server.url, transport: AsyncHTTPClientTransport())
        let report = SessionReport(Logger(label: "worker") { [log] _ in log }, factory: metrics)
        let (finished, finish) = AsyncStream.makeStream(of: Void.self)
        let workers = (0..<2).map { _ in
            let (stream, queue) = AsyncStream.makeStream(of: Int.self)
            for job in 0..<jobs { queue.yield(job) }
            return NotesWorker(
                jobs: stream, store: database.store().store(for: "worker"), api: api,
                handler: RESTTokenRefreshHandler(network: api), report: report
            ) { _, network in
                defer { finish.yield() }
                _ = try await network.send(.request(.get, "notes"))
            }
        }
        let group = ServiceGroup(services: workers, logger: Logger(label: "group") { _ in SwiftLogNoOpLogHandler() })
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            var done = finished.makeAsyncIterator()
            for _ in 0..<2 * jobs { await done.next() }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    private func count(_ label: String, _ outcome: String) -> Int64 {
        (try? metrics.expectCounter(label, [("outcome", outcome)]).totalValue) ?? 0
    }

    @Test func `the hosts of a fleet refresh once, and finish their jobs before a shutdown`() async throws {
        let database = try await Database.start()
        defer { database.stop() }
        try await NotesServer.run { server in
            try await database.signIn(server.signIn(), as: "worker")
            server.expireTokens()
            try await work(on: server, database, jobs: 5)
            #expect(server.refreshes == 1 && !server.sawReuse)
            #expect(count("jobs", "done") == 10 && count("jobs", "failed") == 0)
            #expect(count("session_events", "refreshed") == 1 && count("session_events", "adopted") == 1)
        }
    }

    @Test func `the end of the session is an error of the log, without a token`() async throws {
        let database = try await Database.start()
        defer { database.stop() }
        try await NotesServer.run { server in
            try await database.signIn(server.signIn(), as: "worker")
            server.endSession(of: "ada")
            try await work(on: server, database, jobs: 1)
            #expect(count("jobs", "failed") == 2)
            #expect(log.entries.contains { $0.level == .error && $0.message == "signed out" })
            #expect(!"\(log.entries)".contains("-ada1-"))
        }
    }
}
