import DevBackend
import Foundation
import NetworkCore
import NetworkRecording
import ProgramTesting
import Testing

/// Ctrl-C, and the scripts for shells.
@Suite(.home, .timeLimit(.minutes(20))) struct InterruptionTests {
    /// Lists the articles with an expired token, and sends the program a signal while the server hangs. A shell reports
    /// SIGINT as the exit status 130.
    private func interrupt(
        at path: String = "/auth/refresh", by signal: Int32, _ flags: [String] = []
    ) async throws -> SpawnedProgram.Result {
        try await backend.expireAccessTokens()
        let gate = backend.hold(path == "/articles" ? "GET" : "POST", path, at: .beforeResponse)
        let program = try await home.start(["list"] + flags + base, [:])
        await gate.arrivals(1)
        program.kill(signal)
        let run = await program.result
        gate.open()
        #expect(run.signal == signal && run.output.isEmpty)
        let next = try await home.run(["list"] + base)
        #expect(next.status == 0, "\(next.errors)")
        #expect(backend.statistics.refreshes.committed == 1)
        return run
    }

    @Test(.signedIn, arguments: ["/auth/refresh", "/articles"])
    func `Ctrl-C while the server hangs keeps the session`(_ path: String) async throws {
        #expect(try await interrupt(at: path, by: SIGINT).errors.isEmpty)
    }

    @Test(.signedIn, arguments: [SIGINT, SIGTERM])
    func `a signal while the server hangs writes what was recorded`(_ signal: Int32) async throws {
        let (har, report) = (home.location("a.har"), home.location("a.html"))
        let run = try await interrupt(by: signal, ["--trace", "--har", har, "--report", report])
        #expect(run.errors.contains("GET articles") && run.errors.contains("POST auth/refresh"), "\(run.errors)")
        #expect(!run.errors.contains("\u{1B}"))
        let archive = try JSONDecoder().decode(HTTPArchive.self, from: Data(contentsOf: URL(fileURLWithPath: har)))
        #expect(archive.log.entries.map(\.response.status) == [401, 0])
        let page = try String(contentsOfFile: report, encoding: .utf8)
        #expect(page.contains("auth/refresh") && page.hasSuffix("</html>\n"))
        #expect(try home.files("a.").sorted() == ["a.har", "a.html"])
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `a completion script knows the commands`(_ shell: String) async throws {
        let run = try await home.run(["--generate-completion-script", shell])
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
        for command in ["list", "api", "idempotency-key"] {
            #expect(run.output.contains(command))
        }
    }
}
