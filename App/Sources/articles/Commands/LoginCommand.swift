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

    struct Options: ParsableArguments {
        @Flag(help: "Sign in over another session, which ends. Without it, the command asks on a terminal, else fails.")
        var replace = false

        @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions<WholeObject>

        private struct EarlierSession: Encodable {
            let user: UserObject?
        }

        private struct Report: Encodable {
            let user: UserObject?
            let replaced: EarlierSession?
        }
    }
}

extension LoginCommand.Options {
    typealias Login = () async throws -> User?

    /// Runs a login. Nothing is sent while the store cannot be used.
    ///
    /// - Parameter prepare: Reads what the login needs, and returns the login.
    /// - Throws: `AuthenticationError`; what the login throws; ``Failure`` when the tokens were not stored.
    func run(_ prepare: (AppGraph) async throws -> Login) async throws {
        try EnvironmentToken.checkUnset()
        try await connection.withGraph(signsIn: true) { graph in
            do {
                _ = try await graph.session.restore()
            } catch let error as AuthenticationError {
                guard let cause = error.cause as? TokenStoreError, cause.code == .corrupt else { throw error }
                // The sign-in replaces it.
                output.console.note("note: \(cause.reason)")
            }
            try await perform(prepare(graph), in: graph)
            if graph.configuration.store == .memory {
                output.console.note("note: --store memory forgets the session with the end of this command")
            }
        }
    }

    /// Runs a login at the server's endpoints of OAuth 2.0, which it describes itself.
    func runOAuth2(_ signIn: @escaping (OAuth2Server, OAuth2Client, AppGraph) async throws -> Void) async throws {
        try await run { graph in
            guard case .oauth2(let client) = graph.configuration.refresh else {
                throw Failure("a login of OAuth 2.0 needs a client: set --refresh oauth2 and --client-id", .usage)
            }
            let server = try await OAuth2Server.discover(
                issuer: graph.configuration.baseURL, network: graph.unauthenticatedNetwork)
            return {
                try await signIn(server, client, graph)
                return try? await graph.auth.me()
            }
        }
    }

    /// Signs in, and prints the user and the user of the session that is replaced. A user is reported as signed in only
    /// after the tokens have been stored.
    private func perform(_ login: Login, in graph: AppGraph) async throws {
        let console = output.console
        let earlier = await earlierSession(of: graph)
        let name = earlier.map { $0.user.map { "\($0.name) (user \($0.id))".onOneLine } ?? "an unknown user" }
        // A session that the server does not renew before the user has signed in again is repaired by this.
        if let name, graph.report.userAction == nil, !replace {
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
        try console.printObject(Report(user: user.map(UserObject.init), replaced: isOther ? earlier : nil))
    }

    /// The session that the login replaces. Its user must be requested before its tokens are replaced.
    private func earlierSession(of graph: AppGraph) async -> EarlierSession? {
        guard case .signedIn = graph.session.state else { return nil }
        let user = try? await graph.auth.me()
        // The request may have shown that the session has ended.
        guard case .signedIn = graph.session.state else { return nil }
        return EarlierSession(user: user.map(UserObject.init))
    }
}

struct LoginBrowserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "browser", abstract: "Sign in on a page of the server, in a browser of this computer.",
        examples: ["articles login browser --refresh oauth2 --client-id my-client"])

    @OptionGroup var options: LoginCommand.Options

    func run() async throws {
        let console = options.output.console
        try await options.runOAuth2 { server, client, graph in
            try await OAuth2CodeSignIn(server: server, client: client, network: graph.unauthenticatedNetwork)
                .start(graph.session, with: LoopbackUserAgent { console.log("Open \($0.absoluteString)") })
        }
    }
}

struct LoginDeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device", abstract: "Sign in by a code that you enter on another device.",
        examples: ["articles login device --refresh oauth2 --client-id my-client"])

    @OptionGroup var options: LoginCommand.Options

    func run() async throws {
        let console = options.output.console
        try await options.runOAuth2 { server, client, graph in
            try await OAuth2DeviceSignIn(server: server, client: client, network: graph.unauthenticatedNetwork)
                .start(graph.session) { console.log("Open \($0.verificationURI) and enter \($0.userCode)") }
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
        let console = options.output.console
        try await options.run { graph in
            let photo = try AppGraph.photoFitter().fit(InputFile(photo).data())
            console.note("photo fitted: \(photo.size), \(photo.jpeg.count.inKilobytes)")
            let bar = ProgressBar("upload", on: console)
            return {
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

    @OptionGroup var options: LoginCommand.Options

    func validate() throws {
        guard (tokenFile == nil) != (developmentName == nil) else {
            throw ValidationError("give either --token-file or --development-name")
        }
    }

    func run() async throws {
        try await options.run { graph in
            let token = try token()
            return { try await graph.auth.socialLogin(SocialProvider(rawValue: provider), token: token) }
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
