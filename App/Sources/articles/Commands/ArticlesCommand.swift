import ArgumentParser

/// The command line: what there is to do.
struct ArticlesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "articles",
        abstract: "Reads and writes articles, and shows that nobody is ever logged out by mistake.",
        discussion: """
            Settings come from flags, then from the environment (LATCHKEY_BASE_URL, LATCHKEY_STORE, …), then from \
            $XDG_CONFIG_HOME/articles/config.json.

            Exit status: 0 done; 1 refused by the server, or a claim of the demo does not hold; 64 wrong usage; \
            65 unusable picture or input; 66 a file is missing; 69 the server cannot be reached; 70 a fault of this \
            program; 74 the token store; 75 try again later; 77 not signed in; 78 wrong configuration.
            """,
        version: "0.1.0",
        subcommands: [
            DemoCommand.self, ServeCommand.self, LoginCommand.self, ListCommand.self, ShowCommand.self,
            CreateCommand.self, StatusCommand.self, LogoutCommand.self,
        ],
        defaultSubcommand: DemoCommand.self
    )

    /// Parses arguments and does what they say. Whatever goes wrong is one line on standard error.
    static func run(_ arguments: [String]) async -> ExitStatus {
        let console = Console(isJSON: arguments.contains("--json"))
        do {
            var command = try parseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            return .done
        } catch let status as ExitStatus {
            return status
        } catch {
            guard !exitCode(for: error).isSuccess else {
                console.write(fullMessage(for: error))
                return .done
            }
            let failure = Failure(error)
            console.fail(failure)
            return failure.status
        }
    }
}
