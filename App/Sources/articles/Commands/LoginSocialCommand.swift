import ArgumentParser
import Composition
import DataAPI
import DevBackend
import Foundation

struct LoginSocialCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "social",
        abstract: "Sign in with the token of an identity provider.",
        discussion: "The token is read from a file, because other users of the machine can read a process's arguments."
    )

    @Option(help: "The identity provider: apple or kakao.")
    var provider: String

    @Option(help: "The file with the provider's token; - is standard input.")
    var tokenFile: String?

    @Option(help: "Sign in as this user of the development provider, which only 'articles serve' accepts.")
    var developmentName: String?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (tokenFile == nil) != (developmentName == nil) else {
            throw ValidationError("give either --token-file or --development-name")
        }
    }

    func run() async throws {
        try await connection.withGraph { graph in
            let login = LoginCommand.Flow(graph: graph, console: output.console)
            try await login.checkStore()
            let token = try await token()
            try await login.perform {
                try await graph.auth.socialLogin(SocialProvider(rawValue: provider), token: token)
            }
        }
    }

    private func token() async throws -> String {
        if let developmentName {
            return try await DevelopmentProvider().token(for: provider, subject: developmentName, name: developmentName)
        }
        let text = String(decoding: try InputFile(tokenFile ?? "-").data(), as: UTF8.self)
        let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !token.isEmpty else {
            throw Failure("the token file is empty; write the provider's token to it", .unusableInput)
        }
        return token
    }
}
