import ArgumentParser
import Foundation

/// The endurance run: scenarios S13, S15 and S20 at full length, with processes (`make endurance`).
@main
struct Endurance: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Endurance",
        abstract: "Run S20, S13 and S15 at full length.",
        subcommands: [RunCommand.self, PeerCommand.self],
        defaultSubcommand: RunCommand.self
    )
}

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run the scenarios and check their claims.")

    @Option(help: "The duration of S20, in minutes.")
    var minutes = 10.0

    @Option(help: "The interval between kills, in seconds.")
    var killEvery = 20.0

    @Option(help: "The lifetime of the provider's access tokens, in seconds.")
    var accessLifetime = 5

    @Option(help: "The grace window of the provider, in seconds.")
    var grace = 10

    @Option(help: "The requests of all three processes, per second.")
    var rate = 40.0

    @Option(help: "The script that starts the provider.")
    var provider: String

    @Flag(help: "Skip S13 and S15.")
    var onlyProvider = false

    @Flag(help: "Skip S20.")
    var onlySlowResponses = false

    func run() async throws {
        var claims = Claims()
        if !onlyProvider {
            try await SlowResponseRun(name: "S13", delay: .seconds(35)).perform(&claims)
            try await SlowResponseRun(name: "S15", delay: .seconds(12)).perform(&claims)
        }
        if !onlySlowResponses { try await ProviderRun(options: self).perform(&claims) }
        claims.printSummary()
        if !claims.allHold { throw ExitCode.failure }
    }
}

/// The claims of the run, and the observation for each.
struct Claims {
    private var claims: [(text: String, holds: Bool, observed: String)] = []

    var allHold: Bool { claims.allSatisfy(\.holds) && !claims.isEmpty }

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
