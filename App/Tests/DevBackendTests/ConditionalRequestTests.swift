import Foundation
import Testing

@testable import DevBackend

/// Entity tags and ranges (RFC 9110, sections 13 and 14).
@Suite(.hangLimit) struct ConditionalRequestTests {
    private func article(
        _ client: TestClient, _ token: String
    ) async throws -> (path: String, tag: String) {
        let response = try await client.post("/articles", json: #"{"title": "A", "content": "B"}"#, token: token)
        let article = try response.data(Received.Article.self)
        return ("/articles/\(article.id)", try response.header("ETag").required("an ETag"))
    }

    private func change(
        _ client: TestClient, _ path: String, _ token: String, ifMatch: String
    ) async throws -> Received.Response {
        let headers = ["If-Match": ifMatch, "Content-Type": "application/json"]
        return try await client.send(
            "PATCH", path, token: token, headers: headers, body: Data(#"{"title": "C"}"#.utf8))
    }

    @Test func `an article that has not changed is 304, without a body`() async throws {
        try await TestClient.withServer { _, client in
            let token = try await client.signIn().accessToken
            let (path, tag) = try await article(client, token)
            #expect(try await client.get(path, token: token).header("ETag") == tag)
            for field in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
                let response = try await client.get(path, token: token, headers: ["If-None-Match": field])
                #expect(response.status == 304)
                #expect(response.data.isEmpty && response.header("ETag") == tag)
            }
            let other = try await client.get(path, token: token, headers: ["If-None-Match": "\"other\""])
            #expect(other.status == 200)
        }
    }

    @Test func `the list has a tag that changes with an article`() async throws {
        try await TestClient.withServer { _, client in
            let token = try await client.signIn().accessToken
            let tag = try await client.get("/articles", token: token).header("ETag").required("an ETag")
            let known = ["If-None-Match": tag]
            #expect(try await client.get("/articles", token: token, headers: known).status == 304)
            _ = try await article(client, token)
            #expect(try await client.get("/articles", token: token, headers: known).status == 200)
        }
    }

    @Test func `a change of another version is refused`() async throws {
        try await TestClient.withServer { _, client in
            let token = try await client.signIn().accessToken
            let (path, first) = try await article(client, token)
            let changed = try await change(client, path, token, ifMatch: first)
            #expect(changed.status == 200)
            let second = try changed.header("ETag").required("an ETag")
            #expect(second != first)
            // A weak tag matches no change.
            for stale in [first, "W/\(second)"] {
                let refused = try await change(client, path, token, ifMatch: stale)
                #expect(refused.status == 412)
                #expect(refused.code == "PRECONDITION_FAILED")
                let kept = try await client.send("DELETE", path, token: token, headers: ["If-Match": stale])
                #expect(kept.status == 412)
            }
            #expect(try await change(client, path, token, ifMatch: "*").status == 200)
            let last = try await client.get(path, token: token).header("ETag").required("an ETag")
            #expect(
                try await client.send("DELETE", path, token: token, headers: ["If-Match": last]).status == 204)
        }
    }

    @Test func `of two changes of the same version, one is made`() async throws {
        try await TestClient.withServer { _, client in
            let token = try await client.signIn().accessToken
            let (path, tag) = try await article(client, token)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await change(client, path, token, ifMatch: tag).status }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.filter { $0 == 200 }.count == 1)
            #expect(statuses.filter { $0 == 412 }.count == 19)
        }
    }

    @Test func `a part of a picture is sent, and the rest where the first response ended`() async throws {
        try await TestClient.withServer { _, client in
            let picture = jpeg(length: 5_000)
            let body = MultipartBody.registration(image: picture)
            let session = try await client.register(body).data(Received.SignedIn.self)
            let path = "/files/\(try session.user.profileImageKey.required("a key"))"
            let whole = try await client.get(path, token: session.accessToken)
            let tag = try whole.header("ETag").required("an ETag")
            #expect(whole.status == 200 && whole.data == picture && whole.header("Accept-Ranges") == "bytes")

            let first = try await client.get(path, token: session.accessToken, headers: ["Range": "bytes=0-1999"])
            #expect(first.status == 206 && first.header("Content-Range") == "bytes 0-1999/5000")
            let resume = ["Range": "bytes=2000-", "If-Range": tag]
            let rest = try await client.get(path, token: session.accessToken, headers: resume)
            #expect(rest.status == 206 && rest.header("Content-Range") == "bytes 2000-4999/5000")
            #expect(first.data + rest.data == picture)

            let changed = ["Range": "bytes=2000-", "If-Range": "\"other\""]
            #expect(try await client.get(path, token: session.accessToken, headers: changed).data == picture)
            let beyond = try await client.get(path, token: session.accessToken, headers: ["Range": "bytes=5000-"])
            #expect(beyond.status == 416 && beyond.header("Content-Range") == "bytes */5000")
            let known = ["If-None-Match": tag, "Range": "bytes=0-1"]
            #expect(try await client.get(path, token: session.accessToken, headers: known).status == 304)
        }
    }

    @Test(arguments: [
        ("bytes=0-0", ByteRange.part(0..<1)), ("bytes=9-20", .part(9..<10)), ("bytes=-3", .part(7..<10)),
        ("bytes=-30", .part(0..<10)), ("bytes=4-", .part(4..<10)), ("BYTES = 4-5", .part(4..<6)),
        ("bytes=0-99999999999999999999", .part(0..<10)), ("bytes=10-", .unsatisfiable), ("bytes=-0", .unsatisfiable),
        ("bytes=99999999999999999999-", .unsatisfiable), ("bytes=5-4", .whole), ("bytes=-", .whole),
        ("bytes=0-1,4-5", .whole), ("bytes=a-b", .whole), ("bytes=1-2-3", .whole), ("items=0-1", .whole),
        ("bytes=+1-2", .whole), ("", .whole),
    ])
    func `one valid range is served, and anything else is no range`(field: String, range: ByteRange) {
        #expect(ByteRange(field, count: 10) == range)
    }

    @Test func `a file without bytes has no satisfiable range`() {
        #expect(ByteRange("bytes=0-", count: 0) == .unsatisfiable)
        #expect(ByteRange("bytes=-1", count: 0) == .unsatisfiable)
    }
}
