import ArgumentParser
import AuthInterface
import ConcurrencyPrimitives
import DataAPI
import Foundation
import NIOConcurrencyHelpers
import NetworkAsyncHTTPClient
import NetworkCore
import NetworkTransfers
import NetworkURLSession
import TokenRefresh
import UnixSignals

/// The process of mixed traffic: it reads, writes and listens until SIGTERM, and writes counts when it ends.
struct TrafficCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "traffic", shouldDisplay: false)

    @Option var folder: String
    /// The base URL.
    @Option var server: String
    @Option var transport: Transport

    enum Transport: String, ExpressibleByArgument, CaseIterable {
        case asyncHTTPClient = "AsyncHTTPClient"
        case urlSession = "URLSession"

        var made: any HTTPTransport {
            switch self {
            case .asyncHTTPClient: AsyncHTTPClientTransport()
            case .urlSession: URLSessionTransport()
            }
        }

        /// What the system's library keeps of each request, at most: 220 bytes were measured of FoundationNetworking
        /// alone, and more where a request has failed.
        var bytesKeptOfRequest: Int { self == .urlSession ? 400 : 0 }
    }

    private static let readers = 8
    private static let listeners = 2
    private static let pause = Duration.milliseconds(100)

    func run() async throws {
        guard let url = URL(string: server) else { throw ValidationError("--server must be a URL") }
        let counts = NIOLockedValueBox<[String: Int]>([:])
        let left = try await work(at: url, counts)
        for (name, count) in counts.withLockedValue({ $0 }) { note("\(name) \(count)") }
        note("endings \(counts.withLockedValue { $0["signedOut"] } ?? 0)")
        // A task that is left holds the engine.
        let clock = SystemTimeSource()
        let end = clock.uptime + .seconds(30)
        while left.session != nil, clock.uptime < end {
            try await clock.sleep(until: clock.uptime + .milliseconds(100))
        }
        note("left \(left.session == nil ? "none" : "the engine")")
    }

    private struct Left {
        weak var session: TokenRefreshCoordinator?
    }

    /// - Returns: The engine, which nothing holds any more.
    private func work(at url: URL, _ counts: NIOLockedValueBox<[String: Int]>) async throws -> Left {
        let peer = PeerSession(
            url: url, folder: URL(fileURLWithPath: folder), kind: .backend, transport: transport.made, sendsKey: true
        ) { event in
            counts.withLockedValue {
                $0[Mirror(reflecting: event).children.first?.label ?? "\(event)", default: 0] += 1
            }
        }
        let traffic = Task {
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<Self.readers { group.addTask { await request(peer.network, index, counts) } }
                for _ in 0..<Self.listeners { group.addTask { await listen(peer.network, counts) } }
            }
        }
        for await _ in await UnixSignalsSequence(trapping: .sigterm) { break }
        traffic.cancel()
        await traffic.value
        guard await peer.coordinator.settle() else { throw ValidationError("the engine does not settle") }
        return Left(session: peer.coordinator)
    }

    /// Lists, creates, reads, changes and deletes.
    private func request(
        _ network: AuthenticatedNetworkClient, _ index: Int, _ counts: NIOLockedValueBox<[String: Int]>
    ) async {
        let articles = ArticleService(network: network)
        let clock = SystemTimeSource()
        var round = index
        while !Task.isCancelled {
            round += 1
            await Self.count(counts) { _ = try await network.send(.me) }
            await Self.count(counts) { _ = try await articles.page(limit: 50) }
            await Self.count(counts) {
                let article = try await articles.create(ArticleDraft(title: "\(round)", content: "text"))
                _ = try await articles.article(article.id)
                try await articles.update(article.id, ArticleChanges(title: "changed"))
                try await articles.delete(article.id)
            }
            try? await clock.sleep(until: clock.uptime + Self.pause)
        }
    }

    /// Listens to the events, and begins anew after some of them, or after an error.
    private func listen(_ network: AuthenticatedNetworkClient, _ counts: NIOLockedValueBox<[String: Int]>) async {
        let clock = SystemTimeSource()
        while !Task.isCancelled {
            await Self.count(counts) {
                var rest = 200
                for try await _ in network.events("articles/events") {
                    counts.withLockedValue { $0["events", default: 0] += 1 }
                    rest -= 1
                    if rest == 0 { return }
                }
            }
            try? await clock.sleep(until: clock.uptime + Self.pause)
        }
    }

    private static func count(
        _ counts: NIOLockedValueBox<[String: Int]>, _ call: () async throws -> Void
    ) async {
        do {
            try await call()
            counts.withLockedValue { $0["succeeded", default: 0] += 1 }
        } catch is CancellationError {
        } catch {
            let code = (error as? NetworkError).map { "\($0.code)" } ?? "\(type(of: error))"
            counts.withLockedValue { $0["failed-\(code)", default: 0] += 1 }
        }
    }
}
