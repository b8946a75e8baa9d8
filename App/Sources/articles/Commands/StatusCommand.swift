import ArgumentParser
import AuthInterface
import Composition
import DataAPI
import Foundation

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the session, or how the last session ended.",
        discussion: """
            Exit status: 0 signed in, or the session could not be verified; 74 the token store cannot be read; 77 not \
            signed in.
            """
    )

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await connection.withGraph { graph in
            let console = output.console
            var status = StatusObject(graph.configuration)
            let outcome: AutoLogin
            do {
                outcome = try await graph.auth.autoLogin()
            } catch let error as AuthenticationError where error.code == .storeUnavailable {
                status.note(graph.report)
                for line in status.lines("unknown") { console.print(line) }
                try console.printObject(status)
                let failure = Failure(error)
                console.printError(failure)
                throw failure.status
            }
            let line = status.note(outcome)
            status.note(graph.report)
            for line in status.lines(line) { console.print(line) }
            try console.printObject(status)
            if case .login = outcome { throw ExitStatus.notSignedIn }
        }
    }
}
