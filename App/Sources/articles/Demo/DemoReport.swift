import ConcurrencyPrimitives
import DevBackend
import Foundation

/// The result of a run, for people and for programs.
struct DemoReport: Encodable {
    private(set) var claims: [Claims.Claim]
    let requests: Int
    let refreshes: Int
    let failures: Int
    let durationMs: Int

    /// The title of the demo's page.
    static let title = "One refresh for all requests"

    let baseURL: String
    private let secrets: SecretSearch
    private let spans: [CallSpan]
    private let laps: [(name: String, duration: Duration)]
    private let total: Duration

    private enum CodingKeys: String, CodingKey {
        case claims, requests, refreshes, failures, durationMs
    }

    init(_ run: DemoRun, missing: String) {
        var recorded = run.claims
        // A placeholder: the output can be searched only when the rest of it is known.
        recorded.record(.nothingPrinted, false, "not observed")
        claims = recorded.list(requests: run.options.requests, missing: missing)
        requests = run.options.requests
        refreshes = run.refreshes
        failures = run.failures
        total = run.stopwatch.total
        durationMs = Int(total / .milliseconds(1))
        secrets = run.secrets
        laps = run.stopwatch.laps
        baseURL = run.backend.baseURL.absoluteString
        spans = CallSpan.spans(of: run.recorder.events, baseURL: baseURL)
    }

    /// Searches the output, and the page of the recording, for secrets, and prints the report, the JSON object included.
    ///
    /// - Returns: Whether every claim holds.
    /// - Throws: `EncodingError`.
    mutating func print(on console: Console, _ recording: TrafficRecording) throws -> Bool {
        let terminal = console.terminal
        let page = recording.writesReport ? recording.page(Self.title, baseURL: baseURL, claims: claims) : ""
        let text = console.transcript + lines(terminal).joined(separator: "\n") + page
        let found = secrets.count(in: text)
        claims[claims.count - 1] = Claims.Claim(
            name: claims[claims.count - 1].name,
            holds: found == 0 && !secrets.secrets.isEmpty,
            observed: "\(found) of \(secrets.secrets.count) tokens, parts of tokens and secrets found in the output")
        for line in lines(terminal) { console.print(line) }
        try console.printObject(self)
        return claims.allSatisfy(\.holds)
    }

    private func lines(_ terminal: Terminal) -> [String] {
        [""] + section("Calls", terminal) + Waterfall(terminal: terminal).lines(for: spans)
            + [""] + section("Claims", terminal) + claims.flatMap { lines(of: $0, terminal) }
            + [""] + section("Totals", terminal) + totals
            + [""] + section("Durations", terminal) + times
    }

    private func section(_ title: String, _ terminal: Terminal) -> [String] {
        [terminal.bold(title)]
    }

    private func lines(of claim: Claims.Claim, _ terminal: Terminal) -> [String] {
        let mark = claim.holds ? "holds" : terminal.highlighted("FAILS")
        return ["  \(mark)  \(claim.name)", terminal.faint("         \(claim.observed)")]
    }

    private var totals: [String] {
        let attempts = spans.reduce(0) { $0 + $1.attempts.count }
        return [
            "  \(requests) concurrent requests, \(failures) failures, \(refreshes) refresh\(refreshes == 1 ? "" : "es")",
            "  \(spans.count) calls in total, \(attempts) attempts",
        ]
    }

    private var times: [String] {
        let width = laps.map(\.name.count).max() ?? 0
        let laps = laps.map { "  \($0.name.fitted(to: width))  \($0.duration.inWords.leftPadded(to: 8))" }
        return laps + ["  \("total".fitted(to: width))  \(total.inWords.leftPadded(to: 8))"]
    }
}
