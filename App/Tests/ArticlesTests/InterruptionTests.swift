import DevBackend
import Foundation
import NetworkCore
import NetworkRecording
import ProgramTesting
import Testing

/// Ctrl-C, and the scripts for shells.
@Suite(.timeLimit(.minutes(20))) struct InterruptionTests {
    private let home = Home()

    @Test(arguments: ["/auth/refresh", "/articles"])
    func `Ctrl-C while the server hangs keeps the session`(_ path: String) async throws {
        try await home.withSignedIn { base, backend in
            try await backend.expireAccessTokens()
            let gate = backend.hold(path == "/articles" ? "GET" : "POST", path, at: .beforeResponse)
            let program = try await home.start(["list"] + base, [:])
            await gate.arrivals(1)
            program.kill(SIGINT)
            let run = await program.result
            gate.open()
            // A shell reports this signal as the exit status 130.
            #expect(run.signal == SIGINT)
            #expect(run.output.isEmpty && run.errors.isEmpty)
            let next = try await home.run(["list"] + base)
            #expect(next.status == 0, "\(next.errors)")
            #expect(backend.statistics.refreshes.committed == 1)
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `a signal while the server hangs writes what was recorded`(_ signal: Int32) async throws {
        try await home.withSignedIn { base, backend in
            try await backend.expireAccessTokens()
            let (har, report) = (home.location("a.har"), home.location("a.html"))
            let gate = backend.hold("POST", "/auth/refresh", at: .beforeResponse)
            let program = try await home.start(["list", "--trace", "--har", har, "--report", report] + base, [:])
            await gate.arrivals(1)
            program.kill(signal)
            let run = await program.result
            gate.open()
            #expect(run.signal == signal && run.output.isEmpty)
            #expect(run.errors.contains("GET articles") && run.errors.contains("POST auth/refresh"), "\(run.errors)")
            #expect(!run.errors.contains("\u{1B}"))
            let archive = try JSONDecoder().decode(
                HTTPArchive.self, from: Data(contentsOf: URL(fileURLWithPath: har)))
            #expect(archive.log.entries.map(\.response.status) == [401, 0])
            let page = try String(contentsOfFile: report, encoding: .utf8)
            #expect(page.contains("auth/refresh") && page.hasSuffix("</html>\n"))
            #expect(try home.files("a.").sorted() == ["a.har", "a.html"])
            let next = try await home.run(["list"] + base)
            #expect(next.status == 0, "\(next.errors)")
            #expect(backend.statistics.refreshes.committed == 1)
        }
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
