import ArgumentParser
import Composition
import Foundation

struct ManCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "man",
        abstract: "Print the manual page: articles man | man -l -",
        discussion: "It is made of the help of the commands, so it always belongs to this version.",
        examples: ["articles man | man -l -"])

    func run() throws {
        let page = ManualPage(try CommandHelp.program, version: ArticlesCommand.configuration.version)
        Console(isJSON: false).write(Data(page.text.utf8))
    }
}

/// The help of a command, as ArgumentParser's `--experimental-dump-help` writes it.
struct CommandHelp: Decodable {
    private struct Root: Decodable {
        let command: CommandHelp
    }

    /// The help of this program.
    static var program: CommandHelp {
        get throws { try JSONDecoder().decode(Root.self, from: Data(ArticlesCommand._dumpHelp().utf8)).command }
    }

    struct Argument: Decodable, Hashable {
        struct Name: Decodable, Hashable {
            let kind: String
            let name: String

            var text: String { (kind == "long" ? "--" : "-") + name }
        }

        let kind: String
        let names: [Name]?
        let valueName: String?
        let abstract: String?
        let isOptional: Bool
        let isRepeating: Bool
        let shouldDisplay: Bool

        var isPositional: Bool { kind == "positional" }
    }

    let commandName: String
    let abstract: String?
    let discussion: String?
    let arguments: [Argument]?
    let subcommands: [CommandHelp]?
    let superCommands: [String]?

    /// The name with those of the commands above it.
    var fullName: String { ((superCommands ?? []) + [commandName]).joined(separator: " ") }

    /// The commands below it that do something, at any depth.
    var leaves: [CommandHelp] {
        let below = (subcommands ?? []).filter { $0.commandName != "help" }
        return below.isEmpty ? [self] : below.flatMap(\.leaves)
    }

    var displayed: [Argument] { (arguments ?? []).filter(\.shouldDisplay) }
}
