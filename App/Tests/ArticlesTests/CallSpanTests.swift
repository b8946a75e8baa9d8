import Foundation
import NetworkCore
import Testing

@testable import articles

/// Calls are assembled from events.
@Suite struct CallSpanTests {
    private let base = "https://api.example.com/api/v1"

    private func events(
        _ method: HTTPMethod, _ path: String, _ kinds: (NetworkEvent.Kind, at: Int)...
    ) throws -> [NetworkEvent] {
        let url = try #require(URL(string: "\(base)/\(path)"))
        let id = UUID()
        return kinds.map { kind, at in
            NetworkEvent(
                kind: kind, id: id, attempt: 1,
                request: RequestSummary(method: method, url: url), uptime: .milliseconds(at))
        }
    }

    @Test func `two attempts of one call are one span`() throws {
        let events = try events(
            .get, "articles?limit=20", (.started, 0), (.sent, 1), (.responded(status: 401), 5),
            (.retrying(after: .zero, because: .unacceptableStatus, status: 401), 9), (.sent, 9),
            (.responded(status: 200), 12), (.succeeded(status: 200, bytes: 3), 13))
        let span = try #require(CallSpan.spans(of: events, baseURL: base).first)
        #expect(span.path == "articles")
        #expect(span.outcome == "401 → 200")
        #expect(span.end == .milliseconds(13))
        let phases = [0, 1, 4, 5, 8, 9, 12, 13].map { span.phase(at: .milliseconds($0)) }
        #expect(phases == [.waiting, .failing, .failing, .waiting, .waiting, .succeeding, .succeeding, .none])
    }

    @Test func `concurrent calls are separate spans, with the outcome of each`() throws {
        let first = try events(.get, "articles", (.started, 0), (.sent, 1), (.succeeded(status: 200, bytes: 0), 9))
        let second = try events(
            .post, "auth/refresh", (.started, 2), (.sent, 3), (.failed(.timedOut, status: nil), 4))
        let third = try events(.get, "articles", (.started, 10), (.sent, 11), (.cancelled, 12))
        let spans = CallSpan.spans(
            of: [first[0], second[0], first[1], second[1], second[2], first[2]] + third, baseURL: base)
        #expect(spans.map(\.outcome) == ["200", "timedOut", "cancelled"])
        #expect(spans.map(\.isRefresh) == [false, true, false])
        #expect(spans.map(\.hasSucceeded) == [true, false, false])
    }

    @Test func `the query of a URL of another origin is left out too`() throws {
        let url = try #require(URL(string: "https://cdn.example.com/a.jpg?signature=fixture"))
        let event = NetworkEvent(
            kind: .started, id: UUID(), attempt: 1, request: RequestSummary(method: .get, url: url), uptime: .zero)
        #expect(CallSpan.spans(of: [event], baseURL: base).first?.path == "https://cdn.example.com/a.jpg")
    }
}
