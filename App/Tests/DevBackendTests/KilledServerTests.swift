import DevBackend
import Foundation
import GRDB
import ProgramTesting
import Testing

/// A server that is killed in the middle of its writes.
@Suite(.hangLimit) struct KilledServerTests {
    /// The articles that the server has acknowledged.
    private actor Acknowledged {
        private(set) var articles: Set<Int> = []

        func add(_ article: Int) { articles.insert(article) }
    }

    private func start(_ path: String) async throws -> (program: SpawnedProgram, client: TestClient) {
        let program = try await SpawnedProgram(
            SpawnedProgram.executable("BackendProcess"), [path], environment: ProcessInfo.processInfo.environment)
        let line = try await program.lines.first { _ in true }.required("the URL of the server")
        return (program, TestClient(try URL(string: line).required("a URL")))
    }

    /// Creates articles from eight tasks until the server is gone; kills it after a number of them.
    private func write(
        _ client: TestClient, _ token: String, killing program: SpawnedProgram, after count: Int,
        _ acknowledged: Acknowledged
    ) async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    while let response = try? await client.post(
                        "/articles", json: #"{"title": "A", "content": "B"}"#, token: token),
                        let article = try? response.data(Received.Article.self)
                    {
                        await acknowledged.add(article.id)
                        if await acknowledged.articles.count >= count { program.kill() }
                    }
                }
            }
        }
    }

    @Test func `a kill loses nothing that was acknowledged, and leaves the database whole`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appendingPathComponent("db").path
            var (program, client) = try await start(path)
            let session = try await client.signIn()
            let acknowledged = Acknowledged()
            for round in 1...5 {
                await write(
                    client, session.accessToken, killing: program, after: round * 40, acknowledged)
                _ = await program.result
                let (integrity, orphans, stored, events) = try await DatabaseQueue(path: path).read { database in
                    (
                        try String.fetchOne(database, sql: "PRAGMA integrity_check"),
                        try Row.fetchAll(database, sql: "PRAGMA foreign_key_check").count,
                        try Set(Int.fetchAll(database, sql: "SELECT id FROM article")),
                        try Set(Int.fetchAll(database, sql: "SELECT articleID FROM articleEvent"))
                    )
                }
                #expect(integrity == "ok" && orphans == 0)
                #expect(await acknowledged.articles.isSubset(of: stored))
                // An article and its event are one transaction. The first articles are the seed.
                #expect(stored.subtracting(events).count == 12 && events.isSubset(of: stored))
                (program, client) = try await start(path)
            }
            // The session survives.
            #expect(try await client.get("/users/me", token: session.accessToken).status == 200)
            #expect(try await client.refresh(session.refreshToken).status == 200)
            program.kill()
        }
    }
}
