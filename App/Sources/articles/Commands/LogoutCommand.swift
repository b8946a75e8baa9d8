import ArgumentParser
import AuthInterface
import Composition
import DataAPI

struct LogoutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "Sign out: forget the tokens, and tell the server.",
        discussion: "It works without the server too. To leave when nobody is signed in is no mistake."
    )

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let console = output.console
        let graph = try connection.graph()
        if case .signedOut = try await graph.session.restore() {
            console.say("nobody was signed in")
            try console.object(["signedOut": false])
        } else {
            try await graph.auth.logout()
            console.say("signed out")
            try console.object(["signedOut": true])
        }
    }
}
