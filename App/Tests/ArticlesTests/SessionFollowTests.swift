import AuthInterface
import DevBackend
import Foundation
import ProgramTesting
import Testing

/// `articles session follow`: a file with the access token, for other tools (G29, G35).
@Suite(.timeLimit(.minutes(20))) struct SessionFollowTests {
    private let home = Home()

    /// Waits until the file has a content; `nil`: until it is gone.
    private func wait(for content: (String?) -> Bool, in file: String) async throws {
        while !content(try? String(contentsOfFile: file, encoding: .utf8)) {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    private func mode(of file: String) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? NSNumber)?.intValue
    }

    @Test func `G29: the file has the newest access token and no refresh token, and goes with the session`()
        async throws
    {
        try await home.withSignedIn { base, backend in
            let file = home.location("token")
            let store = home.tokenStore(of: backend)
            let first = try #require(try await store.load())
            let program = try await home.start(["session", "follow", file] + base, [:])
            defer { program.kill() }
            try await wait(for: { $0 == first.accessToken + "\n" }, in: file)
            #expect(try mode(of: file) == 0o600)
            #expect(try home.files("token") == ["token"], "no temporary file, and nothing with the refresh token")

            // Another tool uses it, and can refresh nothing.
            let environment = ["ARTICLES_TOKEN_FILE": file]
            let run = try await home.run(["status"] + base, environment)
            #expect(run.status == 0 && run.output.contains("store\tARTICLES_TOKEN_FILE"), "\(run.errors)")
            #expect(try await home.run(["logout"] + base, environment).status == 78)

            try await backend.expireAccessTokens()
            #expect(try await home.run(["list"] + base).status == 0)
            let second = try #require(try await store.load())
            #expect(second.accessToken != first.accessToken)
            try await wait(for: { $0 == second.accessToken + "\n" }, in: file)

            #expect(try await home.run(["logout"] + base).status == 0)
            let result = await program.result
            #expect(result.status == 77)
            #expect(try home.files("token").isEmpty)
        }
    }

    @Test func `G35: no expired token is in the file while a refresh hangs, and the next one follows`()
        async throws
    {
        try await home.withSignedIn({ $0.accessTokenLifetime = .seconds(5) }) { base, backend in
            let file = home.location("token")
            // Root can give the folder to a group that the process is not of.
            if geteuid() == 0 { #expect(chown(home.location(""), 0, 1) == 0) }
            let program = try await home.start(["session", "follow", "--group-readable", file] + base, [:])
            defer { program.kill() }
            try await wait(for: { $0 != nil }, in: file)
            #expect(try mode(of: file) == 0o640)
            var (status, folder) = (stat(), stat())
            #expect(stat(file, &status) == 0 && stat(home.location(""), &folder) == 0)
            #expect(status.st_gid == folder.st_gid)
            let gate = backend.hold("POST", "/auth/refresh")
            try await wait(for: { $0 == nil }, in: file)
            gate.open()
            try await wait(for: { $0 != nil }, in: file)
            program.kill(SIGTERM)
            let errors = await program.result.errors
            #expect(!errors.contains("unavailable"), "the file was there until the refresh had failed: \(errors)")
        }
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    func `G35: the file is removed when the command is interrupted, or its terminal closes`(signal: Int32) async throws
    {
        try await home.withSignedIn { base, _ in
            let file = home.location("token")
            let program = try await home.start(["session", "follow", file] + base, [:])
            try await wait(for: { $0 != nil }, in: file)
            program.kill(signal)
            #expect(await program.result.signal == signal)
            #expect(try home.files("token").isEmpty)
        }
    }

    @Test func `a file that is not its own, or in a folder of other users, is refused and kept`() async throws {
        try await home.withSignedIn { base, _ in
            let notes = try home.file("notes", Data("mine".utf8))
            let run = try await home.run(["session", "follow", notes] + base)
            #expect(run.status == 73)
            #expect(try String(contentsOfFile: notes, encoding: .utf8) == "mine")
            #expect(try await home.run(["session", "follow", "/tmp/latchkey-token"] + base).status == 73)
        }
    }

    @Test func `a token file that does not exist is an error that says what to do`() async throws {
        let run = try await home.run(["list"], ["ARTICLES_TOKEN_FILE": home.location("absent")])
        #expect(run.status == 78)
        #expect(run.errorLine?.contains("is 'articles session follow' running?") == true)
    }
}
