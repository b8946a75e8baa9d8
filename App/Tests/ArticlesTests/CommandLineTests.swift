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
@Suite(.home, .timeLimit(.minutes(20))) struct CommandLineTests {
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

    /// util-linux.
    static let canMakeTerminal = FileManager.default.isExecutableFile(atPath: "/usr/bin/script")

    /// Runs the program on a terminal, with what is typed.
    private func onTerminal(
        _ arguments: [String], typing text: String = "", _ environment: [String: String] = [:]
    ) async throws -> SpawnedProgram.Result {
        let script = #"printf %s "$TYPED" | /usr/bin/script -qec "$0 $*" /dev/null"#
        let words = ["-c", script, SpawnedProgram.executable("articles").path] + arguments + base
        let typed = environment.merging(["TYPED": text]) { own, _ in own }
        return try await home.start(words, typed, URL(fileURLWithPath: "/bin/sh")).result
    }

    @Test(.signedIn, .enabled(if: canMakeTerminal))
    func `on a terminal the editor opens, times are relative, and a deletion is asked for`() async throws {
        #expect(try await home.run(["create", "--title", "Mine", "--body", "b"] + base).status == 0)
        // Ctrl-C is a key of the editor.
        for (title, flags) in [("Called", ["--trace"]), ("Changed", [])] {
            let editor = "kill -INT $PPID; kill -QUIT $PPID; sed -i -e 1s/.*/\(title)/"
            let edited = try await onTerminal(["edit", "13"] + flags, ["EDITOR": editor])
            #expect(edited.status == 0 && edited.output.contains(title), "\(edited.output)")
        }
        let shown = try await home.run(["show", "13"] + base).output
        #expect(shown.hasPrefix("Changed\n") && shown.hasSuffix("\nb\n"))
        let same = try await onTerminal(["edit", "13"], ["EDITOR": "true"])
        #expect(same.output.contains("nothing was changed"))
        let object = try await onTerminal(["edit", "13", "--json"], ["EDITOR": "true"])
        #expect(try object.json("article", "title") as? String == "Changed", "\(object.output)")
        #expect(try home.leftovers().isEmpty)
        // Without the default action of the signal, its status would be 0.
        let editor = #"echo lost >>"$1"; kill -INT $$; true"#
        let failed = try await onTerminal(["edit", "13"], ["EDITOR": editor])
        let file = try #require(home.leftovers().first)
        #expect(failed.status == 66 && failed.output.contains(file), "\(failed.output)")
        #expect(try await onTerminal(["status"]).output.contains("expires in "))

        let kept = try await onTerminal(["delete", "13"], typing: "n\n")
        #expect(kept.status == 1 && kept.output.contains("delete article 13, 'Changed'? [y/N]"))
        #expect(try await onTerminal(["delete", "13"], typing: "y\n").status == 0)
        #expect(try await home.run(["show", "13"] + base).status == 1)
    }

    @Test(.signedIn) func `without a terminal a deletion needs --yes, and stays undone`() async throws {
        #expect(try await home.run(["create", "--title", "Mine", "--body", "b"] + base).status == 0)
        try await home.run(["delete", "13"] + base).expectError(64, "add --yes to delete article 13")
        #expect(try await home.run(["show", "13"] + base).status == 0)
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

    @Test(.server) func `a sign-in makes the state folder, and says when nothing is kept`() async throws {
        let state = home.location("disk/of/mine")
        let environment = ["XDG_STATE_HOME": state]
        #expect(try await home.run(["list"] + base, environment).status != 0)
        #expect(!FileManager.default.fileExists(atPath: state), "only a sign-in makes it")
        #expect(try await home.run(Home.login() + base, environment).status == 0)
        #expect(try home.mode(of: state) == 0o700)
        let memory = try await home.run(Home.login() + base + ["--store", "memory"])
        #expect(memory.status == 0 && memory.errors.contains("--store memory forgets the session"))
    }

    @Test(.server) func `a variable of an earlier version is read, with a note`() async throws {
        let run = try await home.run(["status"], ["LATCHKEY_BASE_URL": base[1]])
        #expect(run.status == 77 && run.output.contains("server\t\(base[1])"))
        #expect(run.errors.hasPrefix("note: LATCHKEY_BASE_URL is read until the next release"))
    }

    #if os(Linux)
    @Test(.signedIn)
    func `a session in a file stays there, and one in the keyring is looked for in the keyring`() async throws {
        let file = try home.tokenFile()
        // The store in the keyring has made this at its first write.
        try Data().write(to: URL(fileURLWithPath: file.path + ".keyring.changed"))
        #expect(try await home.run(["status"] + base).output.contains("store\t\(file.path)"))
        try FileManager.default.removeItem(at: file)
        let run = try await home.run(["status"] + base)
        #expect(run.status == 74 && run.output.contains("store\tthe keyring"), "there is no keyring here")
    }
    #endif
}
