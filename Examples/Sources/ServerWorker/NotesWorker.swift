public import AuthInterface
public import Logging
public import Metrics
public import NetworkCore
public import ServiceLifecycle
import TokenRefresh

/// For a worker that runs on many hosts and acts at another API with one session. Copy both types, and write your job
/// in place of `perform`.
///
/// The session is in a store that the hosts share, such as `PostgreSQLTokenStore`: they refresh it once for all of
/// them, and a host that is killed loses nothing. Run it in a `ServiceGroup` with `gracefulShutdownSignals:
/// [.sigterm]`.
public struct NotesWorker<Job: Sendable>: Service {
    private let jobs: AsyncStream<Job>
    private let session: TokenRefreshCoordinator
    private let network: any NetworkService
    private let report: SessionReport
    private let perform: @Sendable (Job, any NetworkService) async throws -> Void

    /// - Parameters:
    ///   - jobs: The work. The one that is under way at a shutdown is finished.
    ///   - store: The account's store: `database.store(for: "worker")`.
    ///   - api: The client of the other API, without tokens.
    ///   - handler: The refresh call.
    ///   - report: Receives what happens.
    ///   - perform: Does one job. What it throws is logged.
    public init(
        jobs: AsyncStream<Job>, store: any SharedTokenStore, api: NetworkClient, handler: any TokenRefreshHandler,
        report: SessionReport, perform: @escaping @Sendable (Job, any NetworkService) async throws -> Void
    ) {
        (self.jobs, self.report, self.perform) = (jobs, report, perform)
        session = TokenRefreshCoordinator(store: store, handler: handler, observer: { report.receive($0) })
        network = api.authenticated(by: session)
    }

    /// Works until a graceful shutdown.
    public func run() async throws {
        for await job in jobs.cancelOnGracefulShutdown() {
            do {
                try await perform(job, network)
                report.count("jobs", "done")
            } catch {
                report.count("jobs", "failed")
                report.logger.error("job failed", metadata: ["error": "\(error)"])
            }
        }
        // Refreshes and writes that are under way, within the grace period of the scheduler.
        await session.settle(within: .seconds(20))
    }
}

/// Writes what the engine does to swift-log and swift-metrics. No event has a token.
///
/// Alert on the level `error`: a session of a service ends only when the other API has rejected its refresh token.
public struct SessionReport: Sendable {
    let logger: Logger
    private let factory: any MetricsFactory

    /// - Parameters:
    ///   - logger: Receives the lines.
    ///   - factory: Makes the counters. The default is the one that the program has bootstrapped.
    public init(_ logger: Logger, factory: any MetricsFactory = MetricsSystem.factory) {
        (self.logger, self.factory) = (logger, factory)
    }

    func receive(_ event: SessionEvent) {
        switch event {
        case .refreshed(let session, let generation):
            report("refreshed", .info, ["session": "\(session)", "generation": "\(generation)"])
        case .adopted(let session, _):  // another host has refreshed
            report("adopted", .info, ["session": "\(session)"])
        case .refreshFailed(let session, let error, let pause):
            report("refreshFailed", .warning, ["session": "\(session)", "error": "\(error)", "pause": "\(pause)"])
        case .storeFailed(let error): report("storeFailed", .warning, ["error": "\(error)"])
        case .signedOut(let reason): report("signedOut", .error, ["reason": "\(reason)"])
        default: logger.debug("\(event)")
        }
    }

    private func report(_ name: String, _ level: Logger.Level, _ metadata: Logger.Metadata) {
        count("session_events", name)
        logger.log(level: level, "\(name)", metadata: metadata)
    }

    func count(_ label: String, _ outcome: String) {
        Counter(label: label, dimensions: [("outcome", outcome)], factory: factory).increment()
    }
}
