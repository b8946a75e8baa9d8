import AuthInterface
import DevBackend
import Foundation
import NetworkCore
import NetworkRecording
import ProgramTesting
import Testing

/// `--verbose`, `--trace`, `--har` and `--report`: the requests of a command. That they have no token is G35.
@Suite(.home, .timeLimit(.minutes(20))) struct TrafficTests {
    @Test(.signedIn) func `--verbose names each attempt, and standard output stays as it is`() async throws {
        let plain = try await home.run(["list", "--json"] + base).output
        try await backend.expireAccessTokens()
        let run = try await home.run(["list", "--json", "--verbose"] + base)
        #expect(run.output == plain)
        for words in ["articles?limit=20 → 401", "auth/refresh → 200", "attempt 2", "first byte"] {
            #expect(run.errors.contains(words), "\(run.errors)")
        }
    }

    @Test(.signedIn) func `--trace draws the requests of any command, also when it fails`() async throws {
        try await backend.expireAccessTokens()
        let run = try await home.run(["list", "--trace"] + base)
        #expect(run.errors.contains("» POST auth/refresh") && run.errors.contains("401 → 200"))
        #expect(!run.output.contains("░"))
        let missing = try await home.run(["show", "9999", "--trace"] + base)
        #expect(missing.status == 1)
        #expect(missing.errors.contains("GET articles/9999") && missing.errors.contains("404"))
        #expect(try await Home().run(["logout", "--trace"]).errors == "no requests\n")
    }

    @Test(.signedIn) func `--har records the exchanges, for this user only`() async throws {
        try await backend.expireAccessTokens()
        let path = try home.file("traffic.har", Data("of before".utf8))
        #expect(try await home.run(["list", "--har", path] + base).status == 0)
        #expect(try home.mode(of: path) == 0o600)
        let archive = try JSONDecoder().decode(HTTPArchive.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
        #expect(archive.log.entries.map(\.response.status) == [401, 200, 200])
        #expect(archive.log.entries[1].request.url.hasSuffix("/auth/refresh"))
    }

    @Test(.signedIn, .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
    func `a failure after the object of --json is no second object`() async throws {
        let run = try await home.run(["list", "--json", "--har", "/dev/full"] + base)
        run.expectError(73, "/dev/full cannot be written")
        #expect(try run.json("articles") is [Any], "\(run.output)")
    }

    @Test(.signedIn) func `a file that cannot be written is an error before anything is sent`() async throws {
        let requests = backend.statistics.requests
        for option in ["--har", "--report"] {
            for path in ["/", home.location("missing/file")] {
                try await home.run(["list", option, path] + base).expectError(73, path)
            }
            for path in ["", "-"] { #expect(try await home.run(["list", option, path] + base).status == 64) }
        }
        #expect(try await home.run(["list", "--har", "a", "--report", "a"] + base).status == 64)
        #expect(backend.statistics.requests == requests)
    }
}
