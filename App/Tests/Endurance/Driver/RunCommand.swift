import ArgumentParser

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
