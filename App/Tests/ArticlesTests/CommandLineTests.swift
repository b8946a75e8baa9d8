import AuthInterface
import DevBackend
import Foundation
import NetworkCore
import NetworkTransfers
import ProgramTesting
import Testing

@testable import articles

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a user of other command lines expects of this one.
@Suite(.timeLimit(.minutes(20))) struct CommandLineTests {
    private let home = Home()

    @Test(arguments: ["device", "browser"])
    func `a login of OAuth 2.0 shows where to go, and its session is refreshed`(_ way: String) async throws {
        var configuration = DevBackend.Configuration()
        configuration.devicePollInterval = .seconds(1)
        try await DevBackend.withServer(configuration) { backend in
            try home.configure(
                """
                {"base-url": "\(backend.baseURL.absoluteString)", "refresh": "oauth2", "client-id": "latchkey-dev",
                 "client-secret": "development-only"}
                """)
            let program = try await home.startShell(#"exec "$0" "$@" 2>&1"#, ["login", way])
            let line = try #require(await program.lines.first { $0.hasPrefix("Open ") })
            let words = line.split(separator: " ")
            var request = URLRequest(url: try #require(URL(string: String(words[1]))))
            request.httpMethod = "POST"
            request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
            request.httpBody = Data("name=Ada&user_code=\(way == "device" ? words[4] : "")".utf8)
            _ = try await URLSession.shared.data(for: request)
            let login = await program.result
            #expect(login.status == 0 && login.output.contains("signed in as Ada"), "\(login.output)")

            try await backend.expireAccessTokens()
            #expect(try await home.run(["list"]).status == 0)
            #expect(backend.statistics.refreshes.committed >= 1)
        }
    }

    @Test func `a deletion is asked for, and without a terminal needs --yes`() async throws {
        try await home.withSignedIn { base, backend in
            let create = ["create", "--title", "Mine", "--body", "b"] + base
            #expect(try await home.run(create).status == 0)
            let run = try await home.run(["delete", "13"] + base)
            #expect(run.status == 64 && run.errorLine?.contains("add --yes to delete article 13") == true)
            #expect(try await home.run(["show", "13"] + base).status == 0)
            #expect(try await home.run(["delete", "13", "--yes"] + base).output == "deleted article 13\n")
        }
    }

    /// util-linux.
    static let canMakeTerminal = FileManager.default.isExecutableFile(atPath: "/usr/bin/script")

    /// Runs the program on a terminal, with what is typed.
    private func onTerminal(
        _ arguments: [String], typing text: String = "", _ environment: [String: String] = [:]
    ) async throws -> SpawnedProgram.Result {
        let script = #"printf %s "$TYPED" | /usr/bin/script -qec "$0 $*" /dev/null"#
        let words = ["-c", script, SpawnedProgram.executable("articles").path] + arguments
        let typed = environment.merging(["TYPED": text]) { own, _ in own }
        return try await home.start(words, typed, URL(fileURLWithPath: "/bin/sh")).result
    }

    @Test(.enabled(if: canMakeTerminal))
    func `on a terminal the editor opens, times are relative, and a deletion is asked for`() async throws {
        try await home.withSignedIn { base, backend in
            #expect(try await home.run(["create", "--title", "Mine", "--body", "b"] + base).status == 0)
            let edited = try await onTerminal(["edit", "13"] + base, ["EDITOR": "sed -i -e 1s/.*/Changed/"])
            #expect(edited.status == 0 && edited.output.contains("Changed"), "\(edited.output)")
            let shown = try await home.run(["show", "13"] + base).output
            #expect(shown.hasPrefix("Changed\n") && shown.hasSuffix("\nb\n"))
            let same = try await onTerminal(["edit", "13"] + base, ["EDITOR": "true"])
            #expect(same.output.contains("nothing was changed"))
            #expect(try await onTerminal(["status"] + base).output.contains("expires in "))

            let kept = try await onTerminal(["delete", "13"] + base, typing: "n\n")
            #expect(kept.status == 1 && kept.output.contains("delete article 13, 'Changed'? [y/N]"))
            #expect(try await onTerminal(["delete", "13"] + base, typing: "y\n").status == 0)
            #expect(try await home.run(["show", "13"] + base).status == 1)
        }
    }

    @Test(arguments: [
        (-200, "3 minutes ago"), (-90_000, "1 day ago"), (-3_700, "1 hour ago"), (0, "now"), (7_300, "in 2 hours"),
    ])
    func `a time is told by how far away it is`(_ seconds: TimeInterval, _ text: String) {
        #expect(Date(timeIntervalSinceNow: seconds).inWords == text)
        #expect(!Date(timeIntervalSinceNow: -40 * 86_400).inWords.hasSuffix("ago"))
    }

    @Test func `errors tell a certificate from a name, and a file from a server`() {
        let certificate = Failure(NetworkError(.tlsFailed, reason: "no secure connection to the host could be made"))
        #expect(certificate.message.contains("check the server's certificate") && certificate.status == .unreachable)
        let name = Failure(NetworkError(.connectionFailed, reason: "the host was not found"))
        #expect(name.message.contains("the host was not found; check --base-url") && name.status == .unreachable)
        #expect(Failure(NetworkError(.fileFailed, reason: "x")).status == .output)
    }

    @Test func `a token of the environment that is refused is named, and not a sign-in`() async throws {
        try await DevBackend.withServer { backend in
            let base = ["--base-url", backend.baseURL.absoluteString]
            let run = try await home.run(["status"] + base, ["ARTICLES_TOKEN": "refused"])
            #expect(run.status == 77 && run.output.contains("the server does not accept the token in ARTICLES_TOKEN"))
            #expect(!run.output.contains("articles login"))
        }
    }

    @Test func `a sign-in makes the state folder, says when nothing is kept, and warns of a variable's old name`()
        async throws
    {
        try await DevBackend.withServer { backend in
            let state = home.location("disk/of/mine")
            let base = ["--base-url", backend.baseURL.absoluteString]
            let environment = ["XDG_STATE_HOME": state]
            #expect(try await home.run(["list"] + base, environment).status != 0)
            #expect(!FileManager.default.fileExists(atPath: state), "only a sign-in makes it")
            #expect(try await home.run(Home.login() + base, environment).status == 0)
            let mode = try FileManager.default.attributesOfItem(atPath: state)[.posixPermissions] as? Int
            #expect(mode == 0o700)

            let memory = try await home.run(Home.login() + base + ["--store", "memory"])
            #expect(memory.status == 0 && memory.errors.contains("--store memory forgets the session"))
            let former = try await home.run(["status"], ["LATCHKEY_BASE_URL": backend.baseURL.absoluteString])
            #expect(former.status == 77 && former.output.contains("server\t\(backend.baseURL.absoluteString)"))
            #expect(former.errors.hasPrefix("note: LATCHKEY_BASE_URL is read until the next release"))
        }
    }

    #if os(Linux)
    @Test func `a session in a file stays there, and one in the keyring is looked for in the keyring`() async throws {
        try await home.withSignedIn { base, _ in
            let file = try home.tokenFile()
            // The store in the keyring has made this at its first write.
            try Data().write(to: URL(fileURLWithPath: file.path + ".keyring.changed"))
            #expect(try await home.run(["status"] + base).output.contains("store\t\(file.path)"))
            try FileManager.default.removeItem(at: file)
            let run = try await home.run(["status"] + base)
            #expect(run.status == 74 && run.output.contains("store\tthe keyring"), "there is no keyring here")
        }
    }
    #endif
}
