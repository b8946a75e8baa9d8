import ArgumentParser
import AuthInterface
import Composition
import DataAPI
import Foundation

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say who is signed in, and where.",
        discussion: "Exit status: 0 signed in, or there is a session that could not be checked; 77 nobody is signed in."
    )

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    private struct Report: Encodable {
        let baseURL: String
        let store: String
        let state: String
        var user: UserObject?
        var problem: String?
    }

    func run() async throws {
        try await connection.withGraph { graph in
            let outcome = try await graph.auth.autoLogin()
            let (report, line) = describe(outcome, graph)
            let console = output.console
            console.say("server  \(report.baseURL)")
            console.say("store   \(report.store)")
            console.say("state   \(line)")
            try console.object(report)
            if case .login = outcome { throw ExitStatus.notSignedIn }
        }
    }

    private func describe(_ outcome: AutoLogin, _ graph: AppGraph) -> (Report, String) {
        func report(_ state: String) -> Report {
            let url = graph.configuration.baseURL
            return Report(
                baseURL: url.absoluteString, store: graph.configuration.store.place(for: url), state: state)
        }
        switch outcome {
        case .signedIn(let user):
            var report = report("signedIn")
            report.user = UserObject(user)
            return (report, "signed in as \(user.name) (user \(user.id))")
        case .unverified(let error):
            var report = report("unverified")
            report.problem = Failure(error).message
            return (report, "there is a session, but \(Failure(error).message)")
        case .login(.expired):
            return (report("expired"), "the session is over; sign in again with 'articles login guest'")
        case .login:
            return (report("signedOut"), "not signed in; sign in with 'articles login guest'")
        }
    }
}
