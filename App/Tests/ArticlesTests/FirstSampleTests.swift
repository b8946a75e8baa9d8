import Foundation
import ProgramTesting
import Testing

/// The first sample of the README, as it was compiled, after the commands that stand beside it.
@Suite struct FirstSampleTests {
    @Test func `it prints the articles of the server after the first guest's login, and else says what to do`()
        async throws
    {
        let home = Home()
        let server = try await home.start(["serve", "--port", "0"], [:])
        defer { server.kill() }
        var lines = server.lines.makeAsyncIterator()
        let first = try #require(await lines.next())
        let url = try #require(first.firstMatch(of: /Listening on ([^;]+);/)?.1)
        let sample = SpawnedProgram.executable("FirstSample")
        let early = try await home.start([String(url)], [:], sample).result
        #expect(early.status != 0 && early.errors.contains("notSignedIn"), "\(early)")

        let photo = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Pictures/article.png")
        let arguments = ["login", "guest", "--name", "Ada", "--photo", photo.path, "--base-url", String(url)]
        let login = try await home.run(arguments)
        #expect(login.status == 0, "\(login)")
        let result = try await home.start([String(url)], [:], sample).result
        #expect(result.status == 0, "\(result)")
        #expect(result.outputLines.count >= 3, "\(result)")
    }
}
