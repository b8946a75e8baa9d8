import DevBackend
import Foundation
import ProgramTesting
import Testing

/// Ctrl-C, and the scripts for shells.
@Suite struct InterruptionTests {
    private let home: Home

    init() throws {
        home = try Home()
    }

    @Test(arguments: ["/auth/refresh", "/articles"])
    func `Ctrl-C while the server hangs keeps the session`(_ path: String) async throws {
        try await DevBackend.withServer { backend in
            let base = ["--base-url", backend.baseURL.absoluteString]
            let login = ["login", "social", "--provider", "apple", "--development-name", "Ada"]
            #expect(try await home.run(login + base).status == 0)
            try await backend.expireAccessTokens()
            let gate = backend.hold(path == "/articles" ? "GET" : "POST", path, at: .beforeResponse)
            let program = try home.start(["list"] + base, [:])
            await gate.arrivals(1)
            program.kill(SIGINT)
            let run = await program.result
            gate.open()
            // A shell reports this signal as the exit status 130.
            #expect(run.end == .signal(SIGINT))
            #expect(run.output.isEmpty && run.errors.isEmpty)
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
