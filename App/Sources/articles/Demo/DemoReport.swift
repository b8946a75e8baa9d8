import DevBackend
import Foundation

/// The result of a run, for people and for programs.
struct DemoReport: Encodable {
    private(set) var claims: [Claims.Claim]
    let requests: Int
    let refreshes: Int
    let failures: Int
    let signOuts: Int
    let durationMs: Int

    static let title = "One refresh for all requests"

    let baseURL: String
    private let requestsWithOldTokens: Int
    private let secrets: SecretSearch
    private let spans: [CallSpan]

    private enum CodingKeys: String, CodingKey {
        case claims, requests, refreshes, failures, signOuts, durationMs
    }

    init(_ run: DemoRun, missing: String) {
        var recorded = run.claims
        // A placeholder: the output can be searched only when the rest of it is known.
        recorded.record(.nothingPrinted, false, "not observed")
        claims = recorded.list(requests: run.command.requests, missing: missing)
        requests = run.command.requests
        refreshes = run.refreshes
        failures = run.failures
        signOuts = run.signOuts
        requestsWithOldTokens = run.requestsWithOldTokens
        durationMs = Int((ContinuousClock.now - run.start) / .milliseconds(1))
        secrets = run.secrets
        baseURL = run.backend.baseURL.absoluteString
        spans = CallSpan.spans(of: run.recorder.events, baseURL: baseURL)
    }

    /// The numbers in one sentence, and the claims.
    var verdict: Claims.Verdict {
        let summary =
            "\(requests) requests with an expired token, \(refreshes.counted("refresh", "refreshes")), "
            + "\(signOuts.counted("sign-out", "sign-outs")), \(failures.counted("failure", "failures")). After the "
            + "user's own sign-out, \(requestsWithOldTokens.counted("request", "requests")) with the old tokens."
        return Claims.Verdict(summary: summary, claims: claims)
    }

    /// Searches the output, and the page of the recording, for secrets, and prints the report, the JSON object
    /// included. Returns whether every claim holds.
    mutating func print(on console: Console, _ recording: TrafficRecording) throws -> Bool {
        let terminal = console.terminal
        let page = recording.report != nil ? recording.page(Self.title, baseURL: baseURL, verdict) : ""
        let text = console.transcript + lines(terminal).joined(separator: "\n") + page
        let found = secrets.count(in: text)
        claims[claims.count - 1] = Claims.Claim(
            name: claims[claims.count - 1].name,
            holds: found == 0 && !secrets.secrets.isEmpty,
            observed: "\(found) of \(secrets.secrets.count) tokens, parts of tokens and secrets found in the output")
        for line in lines(terminal) { console.print(line) }
        try console.printObject(self)
        return verdict.holds
    }

    private func lines(_ terminal: Terminal) -> [String] {
        let style: Terminal.Style = verdict.holds ? .green : .red
        return [""] + terminal.wrapped(verdict.text, indentation: 0).map { terminal.styled($0, style) }
            + [""] + Waterfall(terminal: terminal).lines(for: spans)
            + [""] + [terminal.bold("Claims")] + claims.flatMap { lines(of: $0, terminal) }
    }

    private func lines(of claim: Claims.Claim, _ terminal: Terminal) -> [String] {
        let mark = claim.holds ? terminal.styled("holds", .green) : terminal.styled("FAILS", .red)
        let names = terminal.wrapped(claim.name, indentation: 9)
        return ["  \(mark)  \(names.first?.dropFirst(9) ?? "")"] + names.dropFirst()
            + terminal.wrapped(claim.observed, indentation: 9).map(terminal.faint)
    }
}

extension Int {
    fileprivate func counted(_ one: String, _ many: String) -> String { "\(self) \(self == 1 ? one : many)" }
}
