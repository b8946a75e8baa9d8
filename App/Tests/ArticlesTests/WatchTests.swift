import DevBackend
import Foundation
import ProgramTesting
import Testing

/// `articles watch` and `articles photo`.
@Suite(.home, .timeLimit(.minutes(20))) struct WatchTests {
    @Test func `changes are printed as they happen, over an expired token and a restart`() async throws {
        var configuration = DevBackend.Configuration()
        configuration.database = .file(home.location("db"))
        configuration.limits.eventRetry = .milliseconds(10)
        let first = try await DevBackend.start(configuration)
        let base = ["--base-url", first.baseURL.absoluteString]
        #expect(try await home.run(Home.login(as: "A") + base).status == 0)
        let program = try await home.start(["watch", "--after", "0"] + base, [:])
        defer { program.kill() }
        var lines = program.lines.makeAsyncIterator()
        func create() async throws {
            #expect(try await home.run(["create", "--title", "a", "--body", "b"] + base).status == 0)
        }
        try await create()
        #expect(await lines.next() == "1\tcreated\t13")
        try await first.expireAccessTokens()
        try await create()
        #expect(await lines.next() == "2\tcreated\t14")
        configuration.port = try #require(first.origin.port)
        await first.stop()
        let second = try await DevBackend.start(configuration)
        #expect(try await home.run(["delete", "13", "--yes"] + base).status == 0)
        #expect(await lines.next() == "3\tdeleted\t13")
        program.kill(SIGINT)
        #expect(await program.result.signal == SIGINT)

        let rest = try await home.start(["watch", "--after", "2", "--json-lines"] + base, [:])
        var objects = rest.lines.makeAsyncIterator()
        #expect(await objects.next() == #"{"article":"13","event":"3","kind":"deleted"}"#)
        rest.kill()
        _ = await rest.result
        await second.stop()
    }

    @Test(.server)
    func `a photo is downloaded over a lost connection, and replaces no file unless it is told to`() async throws {
        let base = ["--base-url", backend.baseURL.absoluteString]
        let photo = try home.file("photo.jpg", Pictures.valid())
        let login = try await home.run(["login", "guest", "--name", "A", "--photo", photo] + base)
        #expect(login.status == 0 && login.output == "signed in as A (user 2)\n", "no remark and no progress")
        #expect(login.errors.contains("photo fitted: 320×240") && !login.errors.contains(" %"))
        let target = home.location("mine.jpg")
        backend.faults = FaultPlan([FaultRule("GET", "/files/*", .cutResponse(afterBytes: 100), times: 1)])
        let run = try await home.run(["photo", target, "--json"] + base)
        #expect(run.status == 0, "\(run.errors)")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: target))
        #expect(try run.object()["bytes"] as? Int == bytes.count && bytes.starts(with: [0xFF, 0xD8]))
        let requests = backend.statistics.requests
        #expect(try await home.run(["photo", target] + base).status == 64)
        #expect(try await home.run(["photo", "/"] + base).status == 73)
        #expect(try await home.run(["photo", home.location("none/me.jpg")] + base).status == 73)
        #expect(backend.statistics.requests == requests)
        #expect(try await home.run(["photo", target, "--force"] + base).status == 0)
        #expect(try home.files(".mine").isEmpty)
    }
}
