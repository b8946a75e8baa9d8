import Foundation
import ProgramTesting
import Testing

@testable import articles

/// The help of each command.
@Suite struct HelpTests {
    private let home = Home()

    private static var commands: [CommandHelp] {
        get throws { try CommandHelp.program.leaves }
    }

    @Test func `each command has examples, and those of its own name`() throws {
        for command in try Self.commands where command.commandName != "demo" {
            let examples = try #require(
                (command.discussion ?? "").components(separatedBy: "Examples:\n").last, "\(command.fullName)")
            let name = command.commandName == "connection" ? "articles" : command.fullName
            #expect(examples.contains("  \(name)"), "\(command.fullName)")
        }
    }

    @Test func `the flags of the connection are explained in one place`() async throws {
        for command in try Self.commands where command.commandName != "demo" {
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
        let topic = try await home.run(["help", "connection"])
        #expect(topic.output.contains("--base-url <base-url>") && topic.output.contains("--trace"))
        #expect(try await home.run(["connection"]).output == topic.output)
    }

    @Test func `the help of the server names the paths that it has`() async throws {
        let help = try await home.run(["serve", "--help"]).output.split(whereSeparator: \.isWhitespace)
        for path in ["faults,", "expire", "stats."] { #expect(help.contains("/api/v1/dev/\(path)")) }
    }
}
