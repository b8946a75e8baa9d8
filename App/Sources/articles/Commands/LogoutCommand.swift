import ArgumentParser
import AuthInterface
import Composition
import DataAPI

struct LogoutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "Sign out: delete the tokens, and revoke them at the server.",
        discussion: """
            It also works while the server cannot be reached, and removes a stored session that cannot be read. It is \
            no error when no user is signed in.
            """,
        examples: ["articles logout", "articles logout --profile staging"])

    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions<WholeObject>

    func run() async throws {
        try EnvironmentToken.checkUnset()
        try await connection.withGraph { graph in
            let console = output.console
            switch try await restored(graph.session) {
            case .signedOut:
                console.print("no user was signed in")
                try console.printObject(["signedOut": false])
                return
            case .signedIn:
                try await graph.auth.logout()
                console.print(graph.report.isSignOutPending ? Self.isPending : "signed out")
            case .unknown:
                try await graph.auth.logout()
                console.print(
                    "signed out; the stored session could not be read, so the tokens were not revoked at the server")
            }
            try console.printObject(["signedOut": true])
        }
    }

    private static let isPending =
        "signed out; the store could not be written, so the next command removes the stored tokens"

    /// The state; `unknown` when the store cannot be read, which does not prevent a sign-out.
    ///
    /// - Throws: `TokenStoreError` with code `insecure`, when other users can read the tokens. The server must revoke
    ///   them, so they must be read first.
    private func restored(_ session: any AuthSession) async throws -> SessionState {
        do {
            return try await session.restore()
        } catch let error as AuthenticationError where error.code == .storeUnavailable {
            if let cause = error.cause as? TokenStoreError, cause.code == .insecure { throw cause }
            return .unknown
        }
    }
}
