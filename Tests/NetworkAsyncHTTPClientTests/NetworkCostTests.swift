#if AsyncHTTPClient && os(Linux)
import AsyncHTTPClient
import Foundation
import FoundationNetworking
import NIOCore
import NetworkCore
import TestSupport
import Testing
import NetworkURLSession

@testable import NetworkAsyncHTTPClient

/// What calls cost over each transport beside the library below it: `make bench-network`. The server is another
/// process. Ratios of interleaved runs hold on a busy machine, where seconds do not.
@Suite(
    .serialized,
    .enabled(if: ProcessInfo.processInfo.environment["BENCH"] != nil, "a measurement: make bench-network")
)
struct NetworkCostTests {
    private struct Article: Codable, Hashable {
        let id: Int
        let title: String
    }

    private static let article = Article(id: 7, title: "An article")
    private static let requestsPerRound = 1_000
    private static let rounds = 15

    /// One way to make a request.
    private struct Way {
        let name: String
        let send: () async throws -> Article
    }

    @Test func `what a call costs beside the library below its transport`() async throws {
        let server = try await BenchServer()
        let url = server.url.appendingPathComponent("json")
        let bare = HTTPClient()
        let session = URLSession(configuration: .ephemeral)
        let configuration = Self.configuration(server.url)
        let overOurs = NetworkClient(configuration: configuration, transport: AsyncHTTPClientTransport())
        let overSession = NetworkClient(configuration: configuration, transport: URLSessionTransport())
        let overNothing = NetworkClient(configuration: configuration, transport: NoOpTransport())
        let call = Endpoint<Article>.get("json")
        let ways = [
            Way(name: "AsyncHTTPClient") {
                let response = try await bare.execute(HTTPClientRequest(url: url.absoluteString), timeout: .seconds(60))
                let body = try await response.body.collect(upTo: 1_024 * 1_024)
                return try JSONDecoder().decode(Article.self, from: Data(body.readableBytesView))
            },
            Way(name: "client over AsyncHTTPClient") { try await overOurs.send(call) },
            // The interface that tells when a request was sent, has both directions at once and ends at any time.
            Way(name: "AsyncHTTPClient with a delegate") {
                let response = try await bare.execute(request: HTTPClient.Request(url: url)).get()
                return try JSONDecoder().decode(Article.self, from: Data(response.body?.readableBytesView ?? .init()))
            },
            Way(name: "URLSession") {
                let (body, _) = try await session.data(from: url)
                return try JSONDecoder().decode(Article.self, from: body)
            },
            Way(name: "client over URLSession") { try await overSession.send(call) },
            Way(name: "client over no-op") { try await overNothing.send(call) },
            Way(name: "decoding alone") { try JSONDecoder().decode(Article.self, from: NoOpTransport.body) },
        ]
        let times = try await Self.times(of: ways)
        try await bare.shutdown()
        let report = zip(ways, times).map { "\($0.name) \(Int(Self.median($1))) µs" }.joined(separator: ", ")
        let ratios = [(1, 0), (1, 2), (4, 3)].map { Self.median(zip(times[$0], times[$1]).map(/)) }
        Self.print("CPU per request: \(report); load \(Self.load)")
        Self.print("ratios: AsyncHTTPClient \(ratios[0]), with a delegate \(ratios[1]), URLSession \(ratios[2])")
    }

    /// The processor time of one request, in microseconds, for each way and round.
    private static func times(of ways: [Way]) async throws -> [[Double]] {
        var times = ways.map { _ in [Double]() }
        for round in 0...rounds {
            for (index, way) in ways.enumerated() {
                var wrong = 0
                let start = processorTime
                for _ in 0..<requestsPerRound where try await way.send() != article { wrong += 1 }
                let elapsed = processorTime - start
                #expect(wrong == 0)
                // The first round warms up.
                if round > 0 { times[index].append(elapsed / Double(requestsPerRound)) }
            }
        }
        return times
    }

    private static func configuration(_ url: URL) -> NetworkConfiguration {
        var configuration = NetworkConfiguration(baseURL: url)
        configuration.format = .json
        return configuration
    }

    /// The processor time of this process, in microseconds.
    private static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    private static var load: String {
        let line = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)) ?? ""
        return String(line.prefix { $0 != " " })
    }

    static func print(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
}
#endif
