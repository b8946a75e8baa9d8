import ArgumentParser
import AuthInterface
import Composition
import DataAPI
import DevBackend
import Foundation
import Imaging
import OAuth2Flows

struct LoginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Sign in; without a subcommand, the way is asked for on a terminal.",
        subcommands: [
            LoginBrowserCommand.self, LoginDeviceCommand.self, LoginGuestCommand.self, LoginSocialCommand.self,
        ]
    )

    func run() async throws {
        let console = Console(isJSON: false)
        var words: [String]
        switch console.reply(to: "Sign in with a browser (b), a code for another device (d), or as a guest (g)? ") {
        case "b": words = ["browser"]
        case "d": words = ["device"]
        case "g":
            words = ["guest", "--name", console.reply(to: "Name: ") ?? ""]
            words += ["--photo", console.reply(to: "Photo (JPEG or PNG): ") ?? ""]
        default: throw Failure("say how: 'articles login browser', device, guest or social", .usage)
        }
        var command = try ArticlesCommand.parseAsRoot(["login"] + words) as? any AsyncParsableCommand
        try await command?.run()
    }

    /// What all logins have.
    struct Options: ParsableArguments {
        @Flag(help: "Sign in over another session, which ends. Without it, the command asks on a terminal, else fails.")
        var replace = false

        @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions<WholeObject>

        /// Runs a login. Nothing is sent while the store cannot be used.
        ///
        /// - Throws: `TokenStoreError`; what the login throws.
        func run(_ login: (LoginCommand.Flow) async throws -> Void) async throws {
            try EnvironmentToken.checkUnset()
            try await connection.withGraph(signsIn: true) { graph in
                let flow = LoginCommand.Flow(graph: graph, console: output.console, replaces: replace)
                do {
                    _ = try await graph.store.load()
                } catch let error as TokenStoreError where error.code == .corrupt {
                    // The sign-in replaces it.
                    flow.console.note("note: \(error.reason)")
                }
                try await login(flow)
                if graph.configuration.store == .memory {
                    flow.console.note("note: --store memory forgets the session with the end of this command")
                }
            }
        }
    }

    /// What all logins do: a user is reported as signed in only after the tokens have been stored.
    struct Flow {
        let graph: AppGraph
        let console: Console
        let replaces: Bool

        private struct EarlierSession {
            let user: User?
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
    /// Signs in, and prints the user and the user of the session that is replaced.
    ///
    /// - Throws: What the login throws; ``Failure`` when the tokens were not stored.
    func perform(_ login: () async throws -> User?) async throws {
        let earlier = await earlierSession()
        let name = earlier.map { $0.user.map { "\($0.name) (user \($0.id))".onOneLine } ?? "an unknown user" }
        // A session that the server does not renew before the user has signed in again is repaired by this.
        if let name, graph.report.userAction == nil, !replaces {
            guard console.ask("signed in as \(name); end this session and sign in again? [y/N] ") == true else {
                throw Failure(
                    "already signed in as \(name); add --replace to end this session, or use 'articles logout'", .usage)
            }
        }
        let user = try await login()
        graph.deleteStoredResponses()
        guard try await graph.store.load() != nil else {
            throw Failure("signed in, but the session could not be stored; check with 'articles status'", .store)
        }
        let isOther = earlier.map { $0.user?.id != user?.id } ?? false
        if let name, isOther { console.note("note: this replaces the session of \(name)") }
        let owner = user.map { " as \($0.name.onOneLine) (user \($0.id.description.onOneLine))" }
        console.print("signed in\(owner ?? "; the server does not name the user")")
        let replaced = isOther ? Report.Replaced(user: earlier?.user.map(UserObject.init)) : nil
        try console.printObject(Report(user: user.map(UserObject.init), replaced: replaced))
    }

    /// The session that the login replaces. Its user must be requested before its tokens are replaced.
    private func earlierSession() async -> EarlierSession? {
        guard case .signedIn? = try? await graph.session.restore() else { return nil }
        let user = try? await graph.auth.me()
        // The request may have shown that the session has ended.
        guard case .signedIn = graph.session.state else { return nil }
        return EarlierSession(user: user)
    }

    /// Signs in at the server's endpoints of OAuth 2.0, which it describes itself.
    func performOAuth2(_ signIn: (OAuth2Server, OAuth2Client) async throws -> Void) async throws {
        guard case .oauth2(let client) = graph.configuration.refresh else {
            throw Failure("a login of OAuth 2.0 needs a client: set --refresh oauth2 and --client-id", .usage)
        }
        let network = graph.unauthenticatedNetwork
        let server = try await OAuth2Server.discover(issuer: graph.configuration.baseURL, network: network)
        try await perform {
            try await signIn(server, client)
            return try? await graph.auth.me()
        }
    }
}

struct LoginBrowserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "browser", abstract: "Sign in on a page of the server, in a browser of this computer.",
        examples: ["articles login browser --refresh oauth2 --client-id my-client"])

    @OptionGroup var options: LoginCommand.Options

    func run() async throws {
        try await options.run { flow in
            let userAgent = LoopbackUserAgent { url in flow.console.log("Open \(url.absoluteString)") }
            try await flow.performOAuth2 { server, client in
                try await OAuth2CodeSignIn(server: server, client: client, network: flow.graph.unauthenticatedNetwork)
                    .start(flow.graph.session, with: userAgent)
            }
        }
    }
}

struct LoginDeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device", abstract: "Sign in by a code that you enter on another device.",
        examples: ["articles login device --refresh oauth2 --client-id my-client"])

    @OptionGroup var options: LoginCommand.Options

    func run() async throws {
        try await options.run { flow in
            try await flow.performOAuth2 { server, client in
                let network = flow.graph.unauthenticatedNetwork
                try await OAuth2DeviceSignIn(server: server, client: client, network: network)
                    .start(flow.graph.session) { code in
                        flow.console.log("Open \(code.verificationURI) and enter \(code.userCode)")
                    }
            }
        }
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

    @OptionGroup var options: LoginCommand.Options

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
        try await options.run { flow in
            let photo = try AppGraph.photoFitter().fit(InputFile(photo).data())
            flow.console.note("photo fitted: \(photo.size), \(photo.jpeg.count.inKilobytes)")
            let bar = ProgressBar("upload", on: flow.console)
            try await flow.perform {
                let user = try await flow.graph.auth.registerGuest(name: name, photo: photo.jpeg) { bar.show($0) }
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

    @OptionGroup var options: LoginCommand.Options

    func validate() throws {
        guard (tokenFile == nil) != (developmentName == nil) else {
            throw ValidationError("give either --token-file or --development-name")
        }
    }

    func run() async throws {
        try await options.run { flow in
            let token = try token()
            try await flow.perform {
                try await flow.graph.auth.socialLogin(SocialProvider(rawValue: provider), token: token)
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
