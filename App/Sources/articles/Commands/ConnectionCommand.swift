import ArgumentParser
import Composition
import Foundation

/// The flags of ``ConnectionOptions``, which the help of each other command names in one line.
struct ConnectionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connection",
        abstract: "Explain the flags of every command that talks to a server.",
        discussion: """
            Each flag is also an environment variable and a key of the configuration file: --base-url is \
            \(Setting.baseURL.variable) and "base-url". A flag comes first, then the variable, then the key. The profile \
            is \(Setting.profile.variable); the client's secret has no flag; ARTICLES_CONFIG names another file.
            """,
        examples: [
            "articles list --profile staging",
            "articles list --base-url https://api.example.com/v1 --expired-status 419",
            "articles list --trace", "articles show 7 --har show.har",
        ])

    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions

    func run() throws {
        throw CleanExit.helpRequest(self)
    }

    /// The help of a command with one line in place of these flags; unchanged where it has none, and for this command.
    static func folded(_ help: String) -> String {
        var sections = help.components(separatedBy: "\n\n")
        let isOwn = help.contains("USAGE: articles \(configuration.commandName ?? "")")
        guard !isOwn, let index = sections.firstIndex(where: { $0.hasPrefix(heading) }) else { return help }
        let pointer = "see 'articles help connection'."
        sections[index] = "\(heading)  --profile, --base-url, --store, --trace and more: \(pointer)"
        return sections.joined(separator: "\n\n")
    }

    /// As ArgumentParser writes the title of a group.
    private static let heading = "\(ConnectionOptions.title.uppercased()):\n"
}
