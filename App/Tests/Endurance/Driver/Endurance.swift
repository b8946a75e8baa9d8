import ArgumentParser
import AuthInterface
import Foundation
import TokenRefresh

/// The endurance run: scenarios S13, S14, S15, S20 and S27 at full length, with processes (`make endurance`).
@main
struct Endurance: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Endurance", abstract: "Run S13, S14, S15, S20 and S27 at full length.",
        subcommands: [RunCommand.self, PeerCommand.self, FlowsCommand.self], defaultSubcommand: RunCommand.self)
}

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run the scenarios and check their claims.")

    @Option(help: "The duration of S20, and of S27 over each transport, in minutes.")
    var minutes = 10.0

    @Option(help: "The usual interval between kills, in seconds.")
    var killEvery = 20.0

    @Option(help: "The transports of S27, with commas between them.")
    var transports = Transport.allCases.map(\.rawValue).joined(separator: ",")

    @Option(help: "The script that starts the provider of S20.")
    var provider: String?

    @Option(help: "The script that starts the servers of S27.")
    var strictProvider: String?

    @Option(help: "The lifetimes of access tokens in S14, in seconds, with commas between them.")
    var lifetimes = "2,30,60,90"

    @Option(help: "The scenarios to run, with commas between them.")
    var only = "S13,S15,S14,S20,S27"

    /// The lifetime of access tokens in S20 and S27, and the grace window of the provider, in seconds.
    static let accessLifetime = 5, grace = 10
    /// The requests of all three processes, per second.
    static let rate = 40.0

    func run() async throws {
        var claims = Claims()
        for scenario in only.split(separator: ",") {
            switch scenario {
            case "S13": try await SlowResponseRun(name: "S13", delay: .seconds(35)).perform(&claims)
            case "S14":
                let seconds = try list(lifetimes, "--lifetimes has seconds, as in 2,30") { word in
                    Int(word).flatMap { $0 > 0 ? $0 : nil }
                }
                for lifetime in seconds { try await RateRun(lifetime: lifetime).perform(&claims) }
            case "S15": try await SlowResponseRun(name: "S15", delay: .seconds(12)).perform(&claims)
            case "S20": try await ProviderRun(options: self).perform(&claims)
            case "S27":
                let rule = "--transports has AsyncHTTPClient and URLSession"
                for transport in try list(transports, rule, Transport.init(rawValue:)) {
                    try await BoundRun(options: self, transport: transport).perform(&claims)
                }
            default: throw ValidationError("no scenario \(scenario); there are S13, S14, S15, S20 and S27")
            }
        }
        claims.printSummary()
        if !claims.allHold { throw ExitCode.failure }
    }

    private func list<Value>(_ text: String, _ rule: String, _ read: (String) -> Value?) throws -> [Value] {
        try text.split(separator: ",").map { word in
            guard let value = read(String(word)) else { throw ValidationError("\(rule): \(word)") }
            return value
        }
    }
}

/// The claims of the run, and the observation for each.
struct Claims {
    private var claims: [(text: String, holds: Bool, observed: String)] = []

    var allHold: Bool { claims.allSatisfy(\.holds) && !claims.isEmpty }

    /// What is true at the end of each run of several processes. A process that did not end by itself has no count.
    mutating func recordEnd(_ name: String, of peers: Fleet, _ counts: [Int?], failures: [String]? = nil) {
        let failures = failures ?? peers.failures
        record(
            "\(name): no request fails, except those of a killed process", failures.isEmpty,
            "\(failures.count) \(failures.first ?? "")")
        record("\(name): no sign-out", peers.events("signedOut") == 0, peers.events("signedOut"))
        record("\(name): the processes end by themselves", !counts.contains(nil), counts.compactMap(\.self))
    }

    mutating func record(_ name: String, _ counters: Counters, _ limits: [(String, ClosedRange<Int>, String)]) {
        for (counter, limit, text) in limits {
            record("\(name): \(text)", limit.contains(counters[counter]), counters[counter])
        }
    }

    mutating func recordSession(_ name: String, _ session: PeerSession) async throws {
        let state = try await session.coordinator.restore()
        let isSignedIn = if case .signedIn = state { true } else { false }
        record("\(name): the store holds the session at the end", isSignedIn, "\(state)")
    }

    mutating func record(_ text: String, _ holds: Bool, _ observed: some CustomStringConvertible) {
        claims.append((text, holds, "\(observed)"))
        note("  \(holds ? "holds" : "FAILS")  \(text): \(observed)")
    }

    func printSummary() {
        let failed = claims.filter { !$0.holds }
        note("\(claims.count - failed.count) of \(claims.count) claims hold")
        for claim in failed { note("FAILS  \(claim.text): \(claim.observed)") }
    }
}

/// Prints a line without a buffer, so that the reader of a pipe gets it at once.
func note(_ line: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
}
