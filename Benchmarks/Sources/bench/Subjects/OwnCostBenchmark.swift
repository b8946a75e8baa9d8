import Foundation
import NetworkCore
import TokenRefresh

/// What the client itself costs: a decoded GET over a transport that responds at once.
enum OwnCostBenchmark: Subject {
    static let name = "own"
    static let summary =
        "A decoded GET of 1 KB over a transport that responds at once, less decoding alone: what is our own."

    private static let url = URL(string: "https://api.example.com") ?? URL(fileURLWithPath: "/")

    private static let works: [Work] = {
        let client = NetworkClient(baseURL: url, transport: NoOpTransport())
        let decoder = JSONDecoder()
        return [
            Work(name: "\(name)/decoding alone") { count in
                for _ in 0..<count { _ = try decoder.decode(Article.self, from: NoOpTransport.body) }
            },
            Work(name: "\(name)/without tokens") { count in
                for _ in 0..<count { _ = try await client.send(Endpoint<Article>.get("1024")) }
            },
            Work(name: "\(name)/with tokens") { count in
                let authenticated = client.authenticated(by: try await shared.value)
                for _ in 0..<count { _ = try await authenticated.send(Endpoint<Article>.get("1024")) }
            },
        ]
    }()

    private static let shared = Task { try await Session().engine }

    static func repeated() -> [(work: Work, count: Int)] { works.map { ($0, 1_000) } }

    static func measure() async throws -> [Measurement] {
        let costs = try await Comparison(works: works, count: 5_000, rounds: 11).costs()
        var found = zip(works, costs).dropFirst().map { work, cost in
            Measurement(
                name: work.name, metric: .microseconds, value: .difference(cost.processor, to: costs[0].processor),
                goal: 5)
        }
        let counts = try await counts()
        // Decoding is not ours.
        for metric in [Measurement.Metric.allocations, .instructions] {
            let values = counts.filter { $0.metric == metric }
            found += values.dropFirst().map {
                let own = (($0.value.median - values[0].value.median) * 10).rounded() / 10
                return Measurement(
                    name: $0.name, metric: metric, value: Spread(own), goal: metric == .allocations ? 15 : nil)
            }
        }
        return found
    }
}

/// Responds at once with the article.
struct NoOpTransport: HTTPTransport {
    static let body = Article.json(1_024)
    private static let headers = HTTPHeaders([
        ("Content-Type", "application/json"), ("Date", "Wed, 25 Nov 2026 10:00:00 GMT"),
    ])

    var endsInTime: Bool { true }

    func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        let head = HTTPResponseHead(status: 200, headers: Self.headers, url: request.head.url)
        return HTTPTransportResponse(head: head, body: HTTPBody(Self.body))
    }
}
