import ArgumentParser
import AuthInterface
import Composition
import DataAPI

struct LogoutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "Sign out: forget the tokens, and tell the server.",
        discussion: """
            It works without the server too, and removes a stored session that cannot be read. To leave when nobody is \
            signed in is no mistake.
            """
    )

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await connection.withGraph { graph in
            let console = output.console
            switch try await restored(graph.session) {
            case .signedOut:
                console.say("nobody was signed in")
                try console.object(["signedOut": false])
                return
            case .signedIn:
                try await graph.auth.logout()
                console.say("signed out")
            case .unknown:
                try await graph.auth.logout()
                console.say("signed out; the stored session could not be read, so the server could not be told")
            }
            try console.object(["signedOut": true])
        }
    }

    /// The state, `unknown` where the store cannot say: whoever wants to leave is not kept by that.
    ///
    /// - Throws: When others could read the tokens. Then it matters most that the server revokes them, which takes
    ///   reading them first.
    private func restored(_ session: any AuthSession) async throws -> SessionState {
        do {
            return try await session.restore()
        } catch let error as AuthenticationError where error.code == .storeUnavailable {
            if let cause = error.cause as? TokenStoreError, cause.code == .insecure { throw cause }
            return .unknown
        }
    }
}
