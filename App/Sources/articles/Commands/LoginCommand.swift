import ArgumentParser
import AuthInterface
import Composition
import DataAPI
import DevBackend
import Foundation
import Imaging

struct LoginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Sign in.",
        subcommands: [LoginGuestCommand.self, LoginSocialCommand.self]
    )

    struct SessionOptions: ParsableArguments {
        @Flag(help: "Sign in over another session, which ends. Without it, the command asks on a terminal, else fails.")
        var replace = false
    }

    /// What all logins share: nothing is sent while the store cannot be used, and a user is reported as signed in only
    /// after the tokens have been stored.
    struct Flow {
        let graph: AppGraph
        let console: Console
        let options: SessionOptions

        private struct EarlierSession {
            let user: User?

            var name: String { user.map { "\($0.name) (user \($0.id))" } ?? "an unknown user" }
        }

        private struct Report: Encodable {
            struct Replaced: Encodable {
                let user: UserObject?
            }

            let user: UserObject?
            let replaced: Replaced?
        }
    }
}

extension LoginCommand.Flow {
    /// Checks that the store can be used, before an account is created whose tokens would be lost.
    ///
    /// - Throws: `TokenStoreError`. A corrupt file is no obstacle: the sign-in replaces it.
    func checkStore() async throws {
        try EnvironmentToken.checkUnset()
        do {
            _ = try await graph.store.load()
        } catch let error as TokenStoreError where error.code == .corrupt {
            console.note("note: \(error.reason)")
        }
    }

    /// Signs in, and prints the user and the user of the session that is replaced.
    ///
    /// - Throws: What the login throws; ``Failure`` when the tokens were not stored.
    func perform(_ login: () async throws -> User?) async throws {
        let earlier = await earlierSession()
        // A session that the server does not renew before the user has signed in again is repaired by this.
        if let earlier, graph.report.userAction == nil { try permitReplacement(of: earlier) }
        let user = try await login()
        graph.deleteStoredResponses()
        guard try await graph.store.load() != nil else {
            throw Failure("signed in, but the session could not be stored; check with 'articles status'", .store)
        }
        let isOther = earlier.map { $0.user?.id != user?.id } ?? false
        if let earlier, isOther { console.note("note: this replaces the session of \(earlier.name.onOneLine)") }
        let name = user.map { " as \($0.name.onOneLine) (user \($0.id.description.onOneLine))" }
        console.print("signed in\(name ?? "; the server does not name the user")")
        let replaced = isOther ? Report.Replaced(user: earlier?.user.map(UserObject.init)) : nil
        try console.printObject(Report(user: user.map(UserObject.init), replaced: replaced))
    }

    private func permitReplacement(of earlier: EarlierSession) throws {
        guard !options.replace else { return }
        let question = "signed in as \(earlier.name.onOneLine); end this session and sign in again? [y/N] "
        guard console.ask(question) == true else {
            throw Failure(
                "already signed in as \(earlier.name.onOneLine); add --replace to end this session, or use 'articles logout'",
                .usage)
        }
    }

    /// The session that the login replaces. Its user must be requested before its tokens are replaced.
    private func earlierSession() async -> EarlierSession? {
        guard case .signedIn? = try? await graph.session.restore() else { return nil }
        let user = try? await graph.auth.me()
        // The request may have shown that the session has ended.
        guard case .signedIn = graph.session.state else { return nil }
        return EarlierSession(user: user)
    }
}

struct LoginGuestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "guest",
        abstract: "Register as a guest, with a name and a photo (JPEG or PNG).",
        examples: ["articles login guest --name Ada --photo ada.jpg"])

    /// The most characters of a name that the articles API accepts.
    private static let maximumNameLength = 50

    @Option(help: "The display name, of 1 to \(maximumNameLength) characters.")
    var name: String

    @Option(
        help: "The photo. It is fitted to 1024×1024 pixels and 5 MB, and its metadata is removed.",
        completion: .file(extensions: ["jpg", "jpeg", "png"]))
    var photo: String

    @OptionGroup var session: LoginCommand.SessionOptions
    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions<WholeObject>

    func validate() throws {
        let length = name.trimmingCharacters(in: .whitespacesAndNewlines).count
        guard (1...Self.maximumNameLength).contains(length) else {
            throw ValidationError("--name must have 1 to \(Self.maximumNameLength) characters")
        }
        guard !name.contains(where: \.isControl) else {
            throw ValidationError("--name must not have a line break, tab or other control character")
        }
    }

    func run() async throws {
        try await connection.withGraph { graph in
            let console = output.console
            let login = LoginCommand.Flow(graph: graph, console: console, options: session)
            try await login.checkStore()
            let photo = try AppGraph.photoFitter().fit(InputFile(photo).data())
            console.note("photo fitted: \(photo.size), \(photo.jpeg.count.inKilobytes)")
            let bar = ProgressBar("upload", on: console)
            try await login.perform {
                let user = try await graph.auth.registerGuest(name: name, photo: photo.jpeg) { bar.show($0) }
                bar.finish()
                return user
            }
        }
    }
}

struct LoginSocialCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "social",
        abstract: "Sign in with the token of an identity provider.",
        discussion: "The token is read from a file, because other users of the machine can read a process's arguments.",
        examples: [
            "articles login social --provider kakao --token-file token",
            "articles login social --provider apple --development-name Grace",
        ])

    @Option(help: "The identity provider: apple or kakao.", completion: .list(["apple", "kakao"]))
    var provider: String

    @Option(help: "The file with the provider's token; - is standard input.", completion: .file())
    var tokenFile: String?

    @Option(help: "Sign in as this user of the development provider, which only 'articles serve' accepts.")
    var developmentName: String?

    @OptionGroup var session: LoginCommand.SessionOptions
    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions<WholeObject>

    func validate() throws {
        guard (tokenFile == nil) != (developmentName == nil) else {
            throw ValidationError("give either --token-file or --development-name")
        }
    }

    func run() async throws {
        try await connection.withGraph { graph in
            let login = LoginCommand.Flow(graph: graph, console: output.console, options: session)
            try await login.checkStore()
            let token = try token()
            try await login.perform {
                try await graph.auth.socialLogin(SocialProvider(rawValue: provider), token: token)
            }
        }
    }

    private func token() throws -> String {
        if let developmentName {
            return try DevelopmentProvider().token(for: provider, subject: developmentName, name: developmentName)
        }
        let token = try InputFile(tokenFile ?? "-").text().trimmingCharacters(in: .whitespacesAndNewlines)
        guard !token.isEmpty else {
            throw Failure("the token file is empty; write the provider's token to it", .unusableInput)
        }
        return token
    }
}
