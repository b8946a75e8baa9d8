import ArgumentParser
import Composition

struct ArticlesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "articles",
        abstract: "Read and write articles; the demo shows how tokens are refreshed once for all requests.",
        discussion: """
            Settings come from flags, then from the environment (ARTICLES_BASE_URL, ARTICLES_STORE, …), then from \
            $XDG_CONFIG_HOME/articles/config.json. Profiles in that file have servers and sessions of their own: see \
            'articles profile --help'.

            An access token in \(EnvironmentToken.variable) is used in place of the stored session. It is not stored \
            and not refreshed.

            Completions for bash, zsh or fish: articles --generate-completion-script SHELL.

            Exit status: 0 success; 1 refused by the server, or a claim of the demo does not hold; 64 usage error; \
            65 unusable photo or input; 66 missing file; 69 the server cannot be reached; 70 internal error; 73 the \
            output cannot be written; 74 the token store failed; 75 try again later; 77 not signed in; 78 \
            configuration error; 130 interrupted; 141 the reader of the output has gone.
            """,
        version: "0.1.0",
        subcommands: [
            DemoCommand.self, ServeCommand.self, LoginCommand.self, ListCommand.self, ShowCommand.self,
            CreateCommand.self, EditCommand.self, DeleteCommand.self, WatchCommand.self, PhotoCommand.self,
            StatusCommand.self, LogoutCommand.self, ProfileCommand.self, APICommand.self,
            WebCommand.self, DoctorCommand.self,
        ],
        groupedSubcommands: [CommandGroup(name: "Help Topics", subcommands: [ConnectionCommand.self])]
    )

    /// Parses the arguments and runs their command. A failure is printed as one line on standard error.
    static func run(_ arguments: [String]) async -> ExitStatus {
        let console = Console(isJSON: JSONFields.isRequested(by: arguments))
        for name in Setting.formerVariables() {
            console.note("note: \(name) is read until the next release; it is now \(Setting.currentName(of: name))")
        }
        let status = await Interruption.run { await perform(JSONFields.normalized(arguments), console) }
        guard status == .success, Console.outputHasFailed else { return status }
        guard !Console.outputHasNoReader else { return .noReader }
        let failure = Failure("the output cannot be written; check that the disk is not full", .output)
        console.printError(failure)
        return failure.status
    }

    private static func perform(_ arguments: [String], _ console: Console) async -> ExitStatus {
        do {
            try checkCommand(in: arguments)
            var command = try parseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            return .success
        } catch let status as ExitStatus {
            return status
        } catch {
            guard !exitCode(for: error).isSuccess else {
                console.write(ConnectionCommand.folded(fullMessage(for: error)))
                return .success
            }
            let failure = Failure(error)
            console.printFailure(failure)
            return failure.status
        }
    }
}

extension ArticlesCommand {
    /// Rejects a command that does not exist. ArgumentParser shows the help of another one for `help nope`, and
    /// suggests names of options only.
    ///
    /// - Throws: ``Failure``, with the command that has a similar name.
    static func checkCommand(in arguments: [String]) throws {
        var words = arguments[...]
        if words.first == "help" { words.removeFirst() }
        var command: any ParsableCommand.Type = Self.self
        var path = "articles"
        while let word = words.popFirst(), !word.hasPrefix("-") {
            let known = command.configuration.subcommands
            if known.isEmpty { return }
            guard let next = known.first(where: { $0.configuration.commandName == word }) else {
                let similar = word.similar(among: known.compactMap { $0.configuration.commandName })
                let suggestion = similar.map { ". Did you mean '\($0)'? See" } ?? "; see"
                throw Failure("unknown command '\(word.onOneLine)'\(suggestion) '\(path) --help'", .usage)
            }
            command = next
            path += " \(word)"
        }
    }
}

extension String {
    /// The name from which at most two characters must be removed, or to which they must be added. `nil`: there is
    /// none.
    func similar(among names: [String]) -> String? {
        let distances = names.map { $0.difference(from: self).count }
        return zip(names, distances).min { $0.1 < $1.1 }.flatMap { $0.1 <= 2 ? $0.0 : nil }
    }
}

extension CommandConfiguration {
    /// The configuration of a command whose help ends with examples.
    init(commandName: String, abstract: String, discussion: String = "", examples: [String]) {
        let examples = (["Examples:"] + examples.map { "  \($0)" }).joined(separator: "\n")
        self.init(
            commandName: commandName, abstract: abstract,
            discussion: [discussion, examples].filter { !$0.isEmpty }.joined(separator: "\n\n"))
    }
}
