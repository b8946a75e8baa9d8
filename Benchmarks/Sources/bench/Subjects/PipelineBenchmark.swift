import AsyncHTTPClient
import Foundation
import NIOCore
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
        + "a second, as ratios to the library below."

    private static let concurrencies = [1, 16, 64, 256]

    static func measure() async throws -> [Measurement] {
        let server = try Server()
        // It ends when it is released.
        defer { withExtendedLifetime(server) {} }
        let session = try await Session().engine
        let bareClient = HTTPClient()
        let bareSession = URLSession(configuration: .ephemeral)
        var found: [Measurement] = []
        for (size, label) in [(1_024, "1 KB"), (102_400, "100 KB")] {
            let url = server.url.appendingPathComponent("\(size)")
            let overAsyncHTTPClient =
                [bare(bareClient, url)] + clients(over: AsyncHTTPClientTransport(), server.url, size, session)
            let overURLSession: [Way] =
                [bare(bareSession, url)] + clients(over: URLSessionTransport(), server.url, size, session) + peers(url)
            for (transport, ways) in [("AsyncHTTPClient", overAsyncHTTPClient), ("URLSession", overURLSession)] {
                for concurrency in concurrencies {
                    found += try await compare(ways, "\(name)/\(transport)/\(label)/\(concurrency)", concurrency, size)
                }
            }
        }
        try await bareClient.shutdown()
        return found
    }

    /// For a profiler: `perf record bench repeat "pipeline/AsyncHTTPClient/with tokens" 100000`.
    static func repeated() throws -> [(work: Work, count: Int)] {
        let server = try Server()
        let session = Task { try await Session().engine }
        let client = HTTPClient()
        let url = server.url.appendingPathComponent("1024")
        let ways = [
            Work(name: "\(name)/AsyncHTTPClient/bare") { count in
                try await repeating(bare(client, url), count, concurrency: 64)
            }
        ]
        return ways.map { ($0, 1_000) }
            + [
                ("AsyncHTTPClient", AsyncHTTPClientTransport() as any HTTPTransport),
                ("URLSession", URLSessionTransport()),
            ].map {
                name, transport in
                let work = Work(name: "pipeline/\(name)/with tokens") { count in
                    let ways = clients(over: transport, server.url, 1_024, try await session.value)
                    try await repeating(ways[1], count, concurrency: 64)
                }
                return (work, 1_000)
            }
    }

    static func bare(_ session: URLSession, _ url: URL) -> Way {
        Way(name: "bare") {
            let (body, _) = try await session.data(from: url)
            return try JSONDecoder().decode(Article.self, from: body)
        }
    }

    static func bare(_ client: HTTPClient, _ url: URL) -> Way {
        Way(name: "bare") {
            let response = try await client.execute(HTTPClientRequest(url: url.absoluteString), timeout: .seconds(60))
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

    private static func compare(
        _ ways: [Way], _ name: String, _ concurrency: Int, _ size: Int
    ) async throws -> [Measurement] {
        let works = ways.map { way in
            Work(name: way.name) { try await repeating(way, $0, concurrency: concurrency) }
        }
        let costs = try await Comparison(works: works, count: size > 10_000 ? 512 : 1_024).costs()
        return zip(ways, costs).flatMap { way, cost -> [Measurement] in
            guard way.name != "bare" else {
                return [Measurement(name: "\(name)/bare", metric: .microseconds, value: Spread(cost.processor))]
            }
            let isOurs = way.name.hasSuffix("tokens")
            return [
                Measurement(
                    name: "\(name)/\(way.name)", metric: .processorRatio,
                    value: .ratio(cost.processor, to: costs[0].processor), goal: isOurs ? 1.05 : nil),
                Measurement(
                    name: "\(name)/\(way.name)", metric: .throughputRatio,
                    value: .ratio(costs[0].wall, to: cost.wall), goal: isOurs ? 0.97 : nil),
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
