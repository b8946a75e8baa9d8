import DevBackend
import Foundation
import ProgramTesting
import Testing

/// `articles web` as a process.
@Suite(.timeLimit(.minutes(20))) struct WebCommandTests {
    private func start(_ arguments: String...) async throws -> (SpawnedProgram, TemporaryFolder) {
        let folder = try TemporaryFolder()
        let home = folder.url.path
        let environment = [
            "HOME": home, "XDG_STATE_HOME": "\(home)/state", "XDG_CONFIG_HOME": "\(home)/config",
            "XDG_CACHE_HOME": "\(home)/cache",
        ]
        let program = try await SpawnedProgram(
            SpawnedProgram.executable("articles"), ["web"] + arguments, environment: environment)
        return (program, folder)
    }

    @Test func `the command prints the URL, serves the pages, and an interrupt ends it`() async throws {
        try await DevBackend.withServer { backend in
            let (program, folder) = try await start(
                "--base-url", backend.baseURL.absoluteString, "--development-name", "Grace")
            defer { folder.remove() }
            let line = try #require(await program.lines.first { $0.hasPrefix("Open http://articles-") })
            let url = try #require(URL(string: String(line.dropFirst("Open ".count))))
            let browser = Browser(url)
            #expect(try await browser.open("/?\(url.query ?? "")").text.contains("<h1>Sign in</h1>"))
            var list = try await browser.submit("/sign-in/social", ["provider": "kakao"])
            // A page that waits asks the browser to load it again.
            while list.text.contains("class=\"waiting\"") { list = try await browser.open("/") }
            #expect(list.text.contains("Grace"))
            let cache = folder.url.appending(path: "cache/articles/articles.json").path
            while !FileManager.default.fileExists(atPath: cache) { _ = try await browser.open("/") }
            program.kill(SIGINT)
            let result = await program.result
            #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
        }
    }

    @Test func `a port that is in use is a failure with a reason`() async throws {
        try await DevBackend.withServer { backend in
            let port = try #require(backend.origin.port)
            let (program, folder) = try await start("--port", "\(port)")
            defer { folder.remove() }
            let result = await program.result
            #expect(result.status == 69 && result.errors.contains("cannot start on port \(port)"))
        }
    }
}
