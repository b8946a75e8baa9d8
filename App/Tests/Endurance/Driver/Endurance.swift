import ArgumentParser

/// The endurance run: scenarios S13, S15 and S20 at full length, with processes (`make endurance`).
@main
struct Endurance: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Endurance",
        abstract: "Run S20, S13 and S15 at full length.",
        subcommands: [RunCommand.self, PeerCommand.self],
        defaultSubcommand: RunCommand.self
    )
}
