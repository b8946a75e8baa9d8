import DevBackend
import Foundation

/// What a run has shown, for people and for programs.
struct DemoReport: Encodable {
    private(set) var claims: [Claim]
    let requests: Int
    let refreshes: Int
    let failures: Int
    let durationMs: Int

    private let secrets: SecretSearch
    private let spans: [CallSpan]
    private let laps: [(name: String, duration: Duration)]
    private let total: Duration

    private enum CodingKeys: String, CodingKey {
        case claims, requests, refreshes, failures, durationMs
    }

    init(_ run: DemoRun, missing: String) {
        var seen = run.claims
        // A placeholder of the right length: the claim is looked at when all the rest is written.
        seen.see(.nothingPrinted, false, "not looked at")
        claims = seen.list(requests: run.options.requests, missing: missing)
        requests = run.options.requests
        refreshes = run.refreshes
        failures = run.failures
        total = run.stopwatch.total
        durationMs = Int(total / .milliseconds(1))
        secrets = run.secrets
        laps = run.stopwatch.laps
        spans = CallSpan.spans(of: run.recorder.events, baseURL: run.backend.baseURL.absoluteString)
    }

    /// Prints the report, the object included, after a last look at all there is to print.
    ///
    /// - Returns: Whether every claim holds.
    /// - Throws: `EncodingError`.
    mutating func print(on console: Console) throws -> Bool {
        let terminal = console.terminal
        let text = console.transcript + lines(terminal).joined(separator: "\n")
        let found = secrets.count(in: text)
        claims[claims.count - 1] = Claim(
            name: claims[claims.count - 1].name,
            holds: found == 0 && !secrets.secrets.isEmpty,
            observed: "\(found) of \(secrets.secrets.count) tokens, parts of tokens and secrets found in the output")
        for line in lines(terminal) { console.say(line) }
        try console.object(self)
        return claims.allSatisfy(\.holds)
    }

    private func lines(_ terminal: Terminal) -> [String] {
        [""] + section("What happened", terminal) + Waterfall(terminal: terminal).lines(for: spans)
            + [""] + section("What it shows", terminal) + claims.flatMap { lines(of: $0, terminal) }
            + [""] + section("Totals", terminal) + totals
            + [""] + section("Where the time went", terminal) + times
    }

    private func section(_ title: String, _ terminal: Terminal) -> [String] {
        [terminal.bold(title)]
    }

    private func lines(of claim: Claim, _ terminal: Terminal) -> [String] {
        let mark = claim.holds ? "holds" : terminal.highlighted("FAILS")
        return ["  \(mark)  \(claim.name)", terminal.faint("         \(claim.observed)")]
    }

    private var totals: [String] {
        let attempts = spans.reduce(0) { $0 + $1.attempts.count }
        return [
            "  \(requests) requests at once, \(failures) failures, \(refreshes) refresh\(refreshes == 1 ? "" : "es")",
            "  \(spans.count) calls in all, sent \(attempts) times",
        ]
    }

    private var times: [String] {
        let width = laps.map(\.name.count).max() ?? 0
        let laps = laps.map { "  \($0.name.fitted(to: width))  \($0.duration.inMilliseconds.leftPadded(to: 8))" }
        return laps + ["  \("in all".fitted(to: width))  \(total.inMilliseconds.leftPadded(to: 8))"]
    }
}
