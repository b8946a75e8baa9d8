import ArgumentParser
import DevBackend

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Show on a real server that one refresh serves a crowd and nobody is logged out (the default)."
    )

    @Option(help: "How many requests to send at once, from 1 to 5000.")
    var requests = DemoOptions().requests

    @Option(help: "How tokens are renewed: rest or oauth2.")
    var refresh = DemoOptions.Refresh.rest

    @Option(help: "The status the server answers to an expired token: 401 or 419.")
    var expiredStatus = 401

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard DemoOptions.requestBounds.contains(requests) else {
            let bounds = DemoOptions.requestBounds
            throw ValidationError("--requests must be from \(bounds.lowerBound) to \(bounds.upperBound)")
        }
        guard DevBackend.ExpiredTokenStatus(rawValue: expiredStatus) != nil else {
            throw ValidationError("--expired-status must be 401 or 419 here")
        }
    }

    func run() async throws {
        var options = DemoOptions()
        options.requests = requests
        options.refresh = refresh
        options.expiredStatus = DevBackend.ExpiredTokenStatus(rawValue: expiredStatus) ?? .unauthorized
        guard try await Demo(options: options, console: output.console).run() else { throw ExitStatus.refused }
    }
}

extension DemoOptions.Refresh: ExpressibleByArgument {}
