import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NetworkAsyncHTTPClient
import NetworkCore
import NetworkURLSession
import TokenRefresh

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A way to fetch an article.
struct Way: Sendable {
    let name: String
    let send: @Sendable () async throws -> Article
}

/// A decoded GET through the client, beside the same with the library below its transport.
enum PipelineBenchmark: Subject {
    static let name = "pipeline"
    static let summary =
        "A decoded GET over loopback, server in another process: the processor time of the whole process, and requests "
        + "a second, as ratios to the library below, which sends the same `Accept` and `Authorization`."

    private static let concurrencies = [1, 16, 64, 256]
    private static let sizes = [(bytes: 1_024, label: "1 KB"), (bytes: 102_400, label: "100 KB")]

    /// The ways over one transport, for one size of the body and one number of requests at a time.
    private struct Case {
        let name: String
        let ways: [Way]
        let concurrency: Int
        let size: Int

        var works: [Work] {
            ways.map { way in Work(name: way.name) { try await repeating(way, $0, concurrency: concurrency) } }
        }
    }

    static func measure() async throws -> [Measurement] {
        let server = try Server()
        // It ends when it is released.
        defer { withExtendedLifetime(server) {} }
        let client = HTTPClient()
        var found: [Measurement] = []
        for measured in cases(server.url, client, try await Session().engine) { found += try await compare(measured) }
        try await client.shutdown()
        return found
    }

    /// For a profiler: `perf record bench repeat "pipeline/AsyncHTTPClient/1 KB/64/with tokens" 100000`.
    static func repeated() throws -> [(work: Work, count: Int)] {
        let server = try Server()
        let client = HTTPClient()
        let made = Task { cases(server.url, client, try await Session().engine) }
        let names = ["AsyncHTTPClient", "URLSession"].flatMap { transport in
            sizes.flatMap { size in concurrencies.map { "\(name)/\(transport)/\(size.label)/\($0)" } }
        }
        return names.flatMap { name in
            ["bare", "without tokens", "with tokens"].map { way in
                let work = Work(name: "\(name)/\(way)") { count in
                    let works = try await made.value.first { $0.name == name }?.works
                    try await works?.first { $0.name == way }?.run(count)
                }
                return (work, 1_000)
            }
        }
    }

    private static func cases(_ server: URL, _ client: HTTPClient, _ session: TokenRefreshCoordinator) -> [Case] {
        let bareSession = URLSession(configuration: .ephemeral)
        return sizes.flatMap { size in
            let url = server.appendingPathComponent("\(size.bytes)")
            let overAsyncHTTPClient =
                [bare(client, url)] + clients(over: AsyncHTTPClientTransport(), server, size.bytes, session)
            let overURLSession =
                [bare(bareSession, url)] + clients(over: URLSessionTransport(), server, size.bytes, session)
            let transports = [("AsyncHTTPClient", overAsyncHTTPClient), ("URLSession", overURLSession)]
            return transports.flatMap { transport, ways in
                concurrencies.map { concurrency in
                    Case(
                        name: "\(name)/\(transport)/\(size.label)/\(concurrency)", ways: ways,
                        concurrency: concurrency, size: size.bytes)
                }
            }
        }
    }

    /// What the request carries where a program without this layer sends the same one.
    private static let fields = [("Accept", "application/json"), ("Authorization", "Bearer access-0")]

    private static func bare(_ session: URLSession, _ url: URL) -> Way {
        Way(name: "bare") {
            var request = URLRequest(url: url)
            for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
            let (body, _) = try await session.data(for: request)
            return try JSONDecoder().decode(Article.self, from: body)
        }
    }

    private static func bare(_ client: HTTPClient, _ url: URL) -> Way {
        Way(name: "bare") {
            var request = HTTPClientRequest(url: url.absoluteString)
            for (name, value) in fields { request.headers.add(name: name, value: value) }
            let response = try await client.execute(request, timeout: .seconds(60))
            let body = try await response.body.collect(upTo: 1_024 * 1_024)
            return try JSONDecoder().decode(Article.self, from: Data(body.readableBytesView))
        }
    }

    private static func clients(
        over transport: any HTTPTransport, _ url: URL, _ size: Int, _ session: TokenRefreshCoordinator
    ) -> [Way] {
        let client = NetworkClient(baseURL: url, transport: transport)
        let authenticated = client.authenticated(by: session)
        return [
            Way(name: "without tokens") { try await client.send(.get("\(size)")) },
            Way(name: "with tokens") { try await authenticated.send(.get("\(size)")) },
        ]
    }

    private static func compare(_ measured: Case) async throws -> [Measurement] {
        let (name, ways) = (measured.name, measured.ways)
        let count = measured.size > 10_000 ? 512 : 1_024
        let costs = try await Comparison(works: measured.works, count: count).costs()
        return zip(ways, costs).flatMap { way, cost -> [Measurement] in
            guard way.name != "bare" else {
                return [Measurement(name: "\(name)/bare", metric: .microseconds, value: Spread(cost.processor))]
            }
            return [
                Measurement(
                    name: "\(name)/\(way.name)", metric: .processorRatio,
                    value: .ratio(cost.processor, to: costs[0].processor), goal: 1.05),
                Measurement(
                    name: "\(name)/\(way.name)", metric: .throughputRatio,
                    value: .ratio(costs[0].wall, to: cost.wall), goal: 0.97),
            ]
        }
    }

    private static func repeating(
        _ way: Way, _ count: Int, concurrency: Int
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<concurrency {
                group.addTask {
                    for _ in 0..<max(1, count / concurrency) {
                        guard try await way.send().id == 7 else { throw BenchError("a wrong article") }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
