import ArgumentParser
import DevBackend

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Show against a real server that one refresh serves all concurrent requests."
    )

    @Option(help: "The number of concurrent requests, from 1 to 5000.")
    var requests = Demo.Options().requests

    @Option(help: "How tokens are refreshed: rest or oauth2.")
    var refresh = Demo.Options.Refresh.rest

    @Option(help: "The status of the response to an expired access token: 401 or 419.")
    var expiredStatus = 401

    @OptionGroup(title: "Requests") var traffic: TrafficOptions
    @OptionGroup var output: OutputOptions<WholeObject>

    func validate() throws {
        guard Demo.Options.requestBounds.contains(requests) else {
            let bounds = Demo.Options.requestBounds
            throw ValidationError("--requests must be from \(bounds.lowerBound) to \(bounds.upperBound)")
        }
        guard DevBackend.ExpiredTokenStatus(rawValue: expiredStatus) != nil else {
            throw ValidationError("--expired-status must be 401 or 419")
        }
    }

    func run() async throws {
        var options = Demo.Options()
        options.requests = requests
        options.refresh = refresh
        options.expiredStatus = DevBackend.ExpiredTokenStatus(rawValue: expiredStatus) ?? .unauthorized
        let demo = Demo(options: options, console: output.console, recording: try traffic.start())
        guard try await demo.run() else { throw ExitStatus.refused }
    }
}

extension Demo.Options.Refresh: ExpressibleByArgument {}
