import ArgumentParser
import AsyncHTTPClient
import Foundation
import NetworkAsyncHTTPClient
import NetworkCore
import NetworkURLSession

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The cold start of a program, to its first decoded response.
enum FirstRequestBenchmark: Subject {
    static let name = "first"
    static let summary =
        "A program starts, fetches 1 KB of JSON from a server in another process, decodes it and ends: processor time "
        + "and time from outside, beside the same program over the library below; *start* does nothing. The first "
        + "decoding is measured in a program that does nothing else."

    /// What a program does that starts for one request, by name.
    static let ways: KeyValuePairs<String, @Sendable (URL) async throws -> Void> = [
        "start": { _ in },
        "AsyncHTTPClient/bare": { try check(await PipelineBenchmark.bare(HTTPClient.shared, $0).send()) },
        "AsyncHTTPClient/client": { try await send($0, over: AsyncHTTPClientTransport()) },
        "URLSession/bare": {
            try check(await PipelineBenchmark.bare(URLSession(configuration: .ephemeral), $0).send())
        },
        "URLSession/client": { try await send($0, over: URLSessionTransport()) },
        "decoding": { _ in
            let body = Article.json(1_024)
            for _ in 0..<2 {
                let start = Usage.processorTime
                try check(JSONDecoder().decode(Article.self, from: body))
                print(Usage.processorTime - start)
            }
        },
    ]

    static func measure() async throws -> [Measurement] {
        let server = try Server()
        // It ends when it is released.
        defer { withExtendedLifetime(server) {} }
        let url = server.url.appendingPathComponent("1024")
        let works = ways.dropLast().map { way, _ in Work(name: "\(name)/\(way)") { _ in _ = try start(way, url) } }
        let comparison = Comparison(works: works, count: 1, rounds: 15, processor: { Usage.processorTimeOfChildren })
        let costs = try await comparison.costs()
        var found: [Measurement] = []
        for (index, work) in works.enumerated() {
            guard work.name.hasSuffix("client") else {
                found.append(.init(name: work.name, metric: .microseconds, value: Spread(costs[index].processor)))
                continue
            }
            let (cost, bare) = (costs[index], costs[index - 1])
            found += [
                .init(name: work.name, metric: .processorRatio, value: .ratio(cost.processor, to: bare.processor)),
                .init(name: work.name, metric: .wallRatio, value: .ratio(cost.wall, to: bare.wall)),
            ]
        }
        let decodings = try (0..<15).map { _ in
            try start("decoding", url).split(separator: "\n").compactMap { Double($0) }
        }
        for (index, label) in ["first", "second"].enumerated() {
            found.append(
                .init(
                    name: "\(name)/decoding/\(label)", metric: .microseconds,
                    value: Spread(decodings.map { $0[index] })))
        }
        return found
    }

    private static func send(_ url: URL, over transport: any HTTPTransport) async throws {
        let client = NetworkClient(baseURL: url.deletingLastPathComponent(), transport: transport)
        try check(try await client.send(Endpoint<Article>.get("1024")))
    }

    private static func check(_ article: Article) throws {
        guard article.id == 7 else { throw BenchError("a wrong article") }
    }

    /// Runs this program once more, to do one thing.
    ///
    /// - Returns: What it has printed.
    private static func start(_ way: String, _ url: URL) throws -> String {
        try Child("bench", ["first", way, url.absoluteString]).end()
    }
}

/// The program that is started for one request.
struct First: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Do one thing and end.", shouldDisplay: false)

    @Argument var way: String
    @Argument var url: String

    func run() async throws {
        guard let url = URL(string: url), let way = FirstRequestBenchmark.ways.first(where: { $0.key == way }) else {
            throw ValidationError("no way '\(way)'")
        }
        try await way.value(url)
    }
}
