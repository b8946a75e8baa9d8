import DevBackend
import Foundation
import ProgramTesting
import Testing

@Suite(.timeLimit(.minutes(20))) struct WebCommandTests {
    private func start(_ arguments: [String], in folder: TemporaryFolder) async throws -> SpawnedProgram {
        let home = folder.url.path
        let environment = [
            "HOME": home, "XDG_STATE_HOME": "\(home)/state", "XDG_CONFIG_HOME": "\(home)/config",
            "XDG_CACHE_HOME": "\(home)/cache",
        ]
        return try await SpawnedProgram(
            SpawnedProgram.executable("articles"), arguments, environment: environment)
    }

    /// A browser that has opened the URL that the program prints.
    private func browser(of program: SpawnedProgram) async throws -> Browser {
        let line = try #require(await program.lines.first { $0.hasPrefix("Open http://articles-") })
        let url = try #require(URL(string: String(line.dropFirst("Open ".count))))
        let browser = Browser(url)
        #expect(try await browser.open("/?\(url.query ?? "")").text.contains("<h1>Sign in</h1>"))
        return browser
    }

    private func responses(in folder: TemporaryFolder) -> [String] {
        let cache = folder.url.appending(path: "cache/articles").path
        let found = FileManager.default.enumerator(atPath: cache)?.compactMap { $0 as? String } ?? []
        return found.filter { $0.hasSuffix(".response") }
    }

    @Test(arguments: ["logout", "login"])
    func `the pages are served until an interrupt, and what they store is there until the end of the session`(
        end: String
    ) async throws {
        try await DevBackend.withServer { backend in
            let folder = try TemporaryFolder()
            let base = ["--base-url", backend.baseURL.absoluteString]
            let program = try await start(["web", "--development-name", "Grace"] + base, in: folder)
            let browser = try await browser(of: program)
            var list = try await browser.submit("/sign-in/social", ["provider": "kakao"])
            // A page that waits asks the browser to load it again.
            while list.text.contains("class=\"waiting\"") { list = try await browser.open("/") }
            #expect(list.text.contains("Grace"))
            while responses(in: folder).isEmpty { _ = try await browser.open("/") }
            program.kill(SIGINT)
            let result = await program.result
            #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
            #expect(!responses(in: folder).isEmpty)
            let login = ["social", "--provider", "apple", "--development-name", "Ada", "--replace"]
            let ending = try await start([end] + (end == "login" ? login : []) + base, in: folder)
            #expect(await ending.result.status == 0)
            #expect(responses(in: folder).isEmpty)
        }
    }
}
