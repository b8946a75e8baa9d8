import ArgumentParser

struct LoginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Sign in.",
        subcommands: [LoginGuestCommand.self, LoginSocialCommand.self]
    )
}
