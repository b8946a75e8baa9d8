import Foundation
import NetworkCore
import Testing

@testable import articles

/// The waterfall, character by character.
@Suite struct WaterfallTests {
    private func call(_ path: String, _ start: Int, _ attempts: (sent: Int, end: Int, status: Int)...) -> CallSpan {
        CallSpan(
            method: path.hasSuffix("refresh") ? "POST" : "GET", path: path, start: .milliseconds(start),
            end: .milliseconds(attempts.last?.end ?? start),
            attempts: attempts.map {
                CallSpan.Attempt(start: .milliseconds($0.sent), end: .milliseconds($0.end), status: $0.status)
            },
            hasSucceeded: attempts.last?.status == 200)
    }

    private func picture(_ spans: [CallSpan], width: Int = 80) -> [String] {
        Waterfall(terminal: Terminal(isInteractive: false, width: width)).lines(for: spans)
    }

    @Test func `a refused request waits for the refresh and is sent again, and colors change no symbol`() {
        let spans = [
            call("articles/7", 0, (0, 50, 401), (100, 200, 200)),
            call("auth/refresh", 50, (50, 100, 200)),
        ]
        #expect(
            picture(spans, width: 63) == [
                "  ░ attempt that fails   · waiting for a token",
                "  █ attempt that succeeds   ▓ refresh, marked »",
                "                      0 ms          200 ms",
                "  GET articles/7      ░░░░░·····██████████  401 → 200   200 ms",
                "» POST auth/refresh        ▓▓▓▓▓            200          50 ms",
            ])
        let terminal = Terminal(isInteractive: true, hasColor: true, width: 63)
        let colored = Waterfall(terminal: terminal).lines(for: spans)
        #expect(colored.map { $0.replacing(/\u{1B}\[[0-9]+m/, with: "") } == picture(spans, width: 63))
        for (style, symbols) in [(33, "░░░░░"), (2, "·····"), (32, "██████████"), (35, "▓▓▓▓▓")] {
            #expect(colored[3...].contains { $0.contains("\u{1B}[\(style)m\(symbols)\u{1B}[0m") })
        }
    }

    @Test func `text is wrapped at the width of the terminal, between words`() {
        let terminal = Terminal(isInteractive: false, width: 60)
        let text = "the first of the words " + String(repeating: "and another ", count: 12) + "end"
        let lines = terminal.wrapped(text, indentation: 9)
        #expect(lines.count > 1 && lines.allSatisfy { $0.count <= 60 && $0.hasPrefix("         ") })
        #expect(lines.map { $0.dropFirst(9) }.joined(separator: " ") == text)
        #expect(terminal.wrapped("", indentation: 2).isEmpty)
    }

    @Test func `a call shorter than a column is drawn, and a refresh that fails is not marked`() throws {
        let rows = picture([call("articles/1", 0, (0, 1_000, 200)), call("articles/2", 500, (500, 501, 200))])
        #expect(rows.last?.contains("█") == true)
        let row = try #require(picture([call("auth/refresh", 0, (0, 10, 401))]).last)
        #expect(row.hasPrefix("  POST auth/refresh"))
        #expect(row.contains("░") && !row.contains("▓"))
    }

    @Test(arguments: [1, 12, 13, 200, 1_000, 5_000])
    func `many calls of one kind share rows, and none is lost`(_ count: Int) {
        let spans = (0..<count).map { call("articles/\($0 % 9)", $0, ($0, $0 + 10, 401), ($0 + 20, $0 + 30, 200)) }
        let rows = Waterfall.rows(of: spans)
        #expect(rows.count <= Waterfall.rowLimit)
        #expect(rows.reduce(0) { $0 + $1.spans.count } == count)
    }

    @Test func `a refresh shares no row: those above it waited for it, and those below came after it`() throws {
        let crowd = (0..<100).map { call("articles", $0, ($0, $0 + 10, 401), ($0 + 20, $0 + 30, 200)) }
        let rows = Waterfall.rows(of: crowd + [call("auth/refresh", 50, (50, 55, 200))])
        #expect(rows.count { $0.isRefresh } == 1)
        #expect(rows.first { $0.isRefresh }?.spans.count == 1)
        let early = (0..<60).map { _ in call("articles", 0, (0, 10, 401), (30, 40, 200)) }
        let late = (0..<60).map { _ in call("articles", 0, (0, 30, 401), (31, 40, 200)) }
        let drawn = Waterfall.rows(of: late + early + [call("auth/refresh", 12, (12, 25, 200))])
        let refresh = try #require(drawn.firstIndex { $0.isRefresh })
        #expect(drawn[..<refresh].flatMap(\.spans).allSatisfy { $0.attempts[0].end == .milliseconds(10) })
        #expect(drawn[(refresh + 1)...].flatMap(\.spans).allSatisfy { $0.attempts[0].end == .milliseconds(30) })
    }

    @Test func `several outcomes of a row are counted`() {
        let spans =
            (0..<14).map { call("articles", $0, ($0, $0 + 1, 200)) }
            + (14..<24).map { call("articles", $0, ($0, $0 + 1, 503)) }
        let rows = Waterfall.rows(of: spans)
        #expect(rows.map(\.outcome).contains("200"))
        #expect(rows.map(\.outcome).contains("503"))
        #expect(Waterfall.Row(spans: spans, title: "").outcome == "200 ×14, 503 ×10")
    }
}

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
