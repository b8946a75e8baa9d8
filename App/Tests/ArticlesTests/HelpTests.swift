import Foundation
import ProgramTesting
import Testing

@Suite(.home) struct HelpTests {
    /// A command, as ArgumentParser's `--experimental-dump-help` writes it.
    private struct Command: Decodable {
        struct Argument: Decodable {
            struct Name: Decodable { let name: String }

            let names: [Name]?
            let abstract: String?
            let shouldDisplay: Bool
        }

        let commandName: String
        let abstract: String?
        let discussion: String?
        let arguments: [Argument]?
        let subcommands: [Command]?
        let superCommands: [String]?

        var fullName: String { ((superCommands ?? []) + [commandName]).joined(separator: " ") }

        /// The commands below it that do something, at any depth.
        var leaves: [Command] {
            let below = (subcommands ?? []).filter { $0.commandName != "help" }
            return below.isEmpty ? [self] : below.flatMap(\.leaves)
        }

        var displayed: [Argument] { (arguments ?? []).filter(\.shouldDisplay) }
    }

    private struct Root: Decodable { let command: Command }

    /// All commands, without the demo.
    private func commands() async throws -> [Command] {
        let help = try await home.run(["--experimental-dump-help"]).output
        let root = try JSONDecoder().decode(Root.self, from: Data(help.utf8))
        return root.command.leaves.filter { $0.commandName != "demo" }
    }

    @Test func `each command and option has a help, and each command examples of its own name`() async throws {
        for command in try await commands() {
            #expect(command.abstract?.isEmpty == false, "\(command.fullName)")
            for argument in command.displayed {
                #expect(argument.abstract?.isEmpty == false, "\(argument) of \(command.fullName)")
            }
            let examples = try #require(
                (command.discussion ?? "").components(separatedBy: "Examples:\n").last, "\(command.fullName)")
            let name = command.commandName == "connection" ? "articles" : command.fullName
            #expect(examples.contains("  \(name)"), "\(command.fullName)")
        }
    }

    @Test func `the flags of the connection are explained in one place, and the server's paths are named`() async throws
    {
        for command in try await commands() {
            let help = try await home.run(
                command.fullName.split(separator: " ").dropFirst().map(String.init) + ["--help"])
            #expect(help.status == 0 && help.output.contains("USAGE: \(command.fullName)"))
            let isTopic = command.commandName == "connection"
            for flag in ["--token-fields", "--store-path", "--har"] {
                #expect(help.output.contains("  \(flag)") == isTopic, "\(command.fullName) \(flag)")
            }
            let connects = command.displayed.contains { $0.names?.contains { $0.name == "base-url" } == true }
            #expect(help.output.contains("see 'articles help connection'") == (connects && !isTopic))
        }
        let root = try await home.run(["--help"])
        #expect(root.status == 0 && root.errors.isEmpty && root.output.contains("SUBCOMMANDS"))
        let topic = try await home.run(["help", "connection"])
        #expect(topic.output.contains("--base-url <base-url>") && topic.output.contains("ARTICLES_BASE_URL"))
        #expect(try await home.run(["connection"]).output == topic.output)
        let help = try await home.run(["serve", "--help"]).output.split(whereSeparator: \.isWhitespace)
        for path in ["faults,", "expire", "stats."] { #expect(help.contains("/api/v1/dev/\(path)")) }
    }
}
