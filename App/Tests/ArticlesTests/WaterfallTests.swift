import Testing

@testable import articles

/// The waterfall, character by character.
@Suite struct WaterfallTests {
    private func call(_ path: String, _ start: Int, _ attempts: (sent: Int, end: Int, status: Int)...) -> CallSpan {
        CallSpan(
            method: path.hasSuffix("refresh") ? "POST" : "GET",
            path: path,
            start: .milliseconds(start),
            end: .milliseconds(attempts.last?.end ?? start),
            attempts: attempts.map {
                CallSpan.Attempt(start: .milliseconds($0.sent), end: .milliseconds($0.end), status: $0.status)
            },
            hasSucceeded: attempts.last?.status == 200
        )
    }

    private func picture(_ spans: [CallSpan], width: Int = 80) -> [String] {
        Waterfall(terminal: Terminal(isInteractive: false, width: width)).lines(for: spans)
    }

    @Test func `without calls nothing is drawn`() {
        #expect(picture([]).isEmpty)
    }

    @Test func `a refused request waits for the refresh and is sent again`() {
        let spans = [
            call("articles/7", 0, (0, 50, 401), (100, 200, 200)),
            call("auth/refresh", 50, (50, 100, 200)),
        ]
        #expect(
            picture(spans, width: 63) == [
                "                      0 ms          200 ms",
                "  GET articles/7      ░░░░░·····██████████  401 → 200   200 ms",
                "» POST auth/refresh        ▓▓▓▓▓            200          50 ms",
                "  ░ attempt that fails   · waiting for a token",
                "  █ attempt that succeeds   » ▓ refresh",
            ])
    }

    @Test func `a call shorter than a column is drawn`() {
        let rows = picture([call("articles/1", 0, (0, 1_000, 200)), call("articles/2", 500, (500, 501, 200))])
        #expect(rows[2].contains("█"))
    }

    @Test func `a refresh that fails is not marked`() {
        let rows = picture([call("auth/refresh", 0, (0, 10, 401))])
        #expect(rows[1].hasPrefix("  POST auth/refresh"))
        #expect(rows[1].contains("░") && !rows[1].contains("▓"))
    }

    @Test(arguments: [1, 12, 13, 200, 1_000, 5_000])
    func `many calls of one kind share rows, and none is lost`(_ count: Int) {
        let spans = (0..<count).map { call("articles/\($0 % 9)", $0, ($0, $0 + 10, 401), ($0 + 20, $0 + 30, 200)) }
        let rows = Waterfall.rows(of: spans)
        #expect(rows.count <= Waterfall.rowLimit)
        #expect(rows.reduce(0) { $0 + $1.spans.count } == count)
    }

    @Test func `a refresh never shares a row`() {
        let crowd = (0..<100).map { call("articles", $0, ($0, $0 + 10, 401), ($0 + 20, $0 + 30, 200)) }
        let rows = Waterfall.rows(of: crowd + [call("auth/refresh", 50, (50, 55, 200))])
        #expect(rows.count { $0.isRefresh } == 1)
        #expect(rows.first { $0.isRefresh }?.spans.count == 1)
    }

    @Test func `rows above the refresh waited for it, and rows below came after it`() throws {
        let early = (0..<60).map { _ in call("articles", 0, (0, 10, 401), (30, 40, 200)) }
        let late = (0..<60).map { _ in call("articles", 0, (0, 30, 401), (31, 40, 200)) }
        let rows = Waterfall.rows(of: late + early + [call("auth/refresh", 12, (12, 25, 200))])
        let refresh = try #require(rows.firstIndex { $0.isRefresh })
        #expect(rows[..<refresh].flatMap(\.spans).allSatisfy { $0.attempts[0].end == .milliseconds(10) })
        #expect(rows[(refresh + 1)...].flatMap(\.spans).allSatisfy { $0.attempts[0].end == .milliseconds(30) })
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

    @Test(arguments: [(20, 60), (60, 60), (120, 120), (900, 160)])
    func `the picture is as wide as the terminal, within bounds`(_ asked: Int, _ got: Int) {
        let rows = picture([call("articles", 0, (0, 10, 200))], width: asked)
        #expect(rows[1].count <= got)
        #expect(rows[1].count > got - 8)
    }

    @Test func `without color there is no escape sequence`() {
        #expect(!picture([call("auth/refresh", 0, (0, 10, 200))]).joined().contains("\u{1B}"))
    }
}
