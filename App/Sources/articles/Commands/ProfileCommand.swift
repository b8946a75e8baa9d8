import ArgumentParser
import AuthInterface
import Composition
import Foundation

struct ProfileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile",
        abstract: "Show the profiles of the configuration file.",
        discussion: """
            A profile is a section of the configuration file, with a server and a session of its own: \
            {"profiles": {"staging": {"base-url": "https://staging.example.com/v1"}}}. Choose it with --profile, with \
            \(Setting.profile.variable), or with the key "profile" of the file.
            """,
        subcommands: [ProfileListCommand.self]
    )
}

struct ProfileListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the profiles, their servers, and whether a user is signed in.",
        examples: ["articles profile list", "articles profile list --json name,state"])

    @OptionGroup var output: OutputOptions<ProfileObject>

    func run() async throws {
        let console = output.console
        let (names, current) = try AppConfiguration.profiles()
        var profiles: [ProfileObject] = []
        for name in [nil] + names.map(Optional.some) {
            profiles.append(await ProfileObject(name, isCurrent: name == current))
        }
        for profile in profiles {
            let row = [profile.isCurrent ? "*" : "", profile.name, profile.baseURL ?? "", profile.text]
            console.printRow(row) { cells in
                "\(cells[0].fitted(to: 2))\(cells[1].fitted(to: 18))\(cells[2].fitted(to: 42))  \(cells[3])"
            }
        }
        try console.printObject(["profiles": profiles], selectingIn: "profiles")
    }
}

struct ProfileObject: Encodable, PrintedObject {
    static let fields = ["name", "isCurrent", "baseURL", "store", "state", "problem"]

    let name: String
    let isCurrent: Bool
    private(set) var baseURL: String?
    private(set) var store: String?
    /// `signedIn`, `signedOut`, `unknown` or `invalid`.
    private(set) var state: String
    private(set) var problem: String?

    /// The profile, with its stored session. Nothing is sent.
    init(_ name: ProfileName?, isCurrent: Bool) async {
        self.name = name?.rawValue ?? ProfileName.defaultName
        self.isCurrent = isCurrent
        state = "invalid"
        do {
            let configuration = try await AppConfiguration.read(flags: [.profile: self.name])
                .choosingStore(forSignIn: false)
            baseURL = configuration.baseURL.absoluteString
            store = configuration.storeLocation
            state = "unknown"
            let bundle = try await AppGraph(configuration).store.load()
            // A journal that cannot be read ends none.
            let journal = try? await configuration.journalEntry()
            let isSignedIn = bundle.map { journal?.ending(of: $0) == nil } ?? false
            state = isSignedIn ? "signedIn" : "signedOut"
        } catch {
            problem = Failure(error).message
        }
    }

    var text: String {
        switch state {
        case "signedIn": "signed in"
        case "signedOut": "not signed in"
        default: problem ?? state
        }
    }
}
