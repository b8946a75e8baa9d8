import DevBackend
import Foundation
import Testing

@Suite(.untilStuck) struct EnvelopeTests {
    @Test func everyAnswerIsAnEnvelopeWithItsRequestsIdentity() async throws {
        let clock = ManualClock()
        var configuration = DevBackend.Configuration()
        configuration.now = { clock.now }
        try await DevBackend.withServer(configuration) { backend in
            let client = TestClient(backend)
            let token = try await client.signIn().accessToken
            let answer = try await client.get(
                "/articles?limit=1", token: token, headers: ["X-Request-Id": "app-1.2_3"])
            let envelope = try answer.envelope(ReceivedPage.self)
            #expect(envelope.success)
            #expect(envelope.code == "OK")
            #expect(envelope.errors == nil)
            #expect(envelope.meta.path == "/api/v1/articles")
            #expect(envelope.meta.requestId == "app-1.2_3")
            #expect(envelope.meta.timestamp == clock.now)
            #expect(envelope.meta.durationMs >= 0)
            #expect(answer.header("X-Request-Id") == "app-1.2_3")
            #expect(answer.header("Date") == "Fri, 15 Jan 2027 08:00:00 GMT")
            #expect(answer.header("Content-Type") == "application/json; charset=utf-8")
        }
    }

    @Test func absentValuesAreNullAndNotLeftOut() async throws {
        try await DevBackend.withServer { backend in
            let text = String(decoding: try await TestClient(backend).get("/nowhere").data, as: UTF8.self)
            #expect(text.contains(#""data":null"#))
            #expect(text.contains(#""errors":null"#))
            #expect(text.contains(#""success":false"#))
        }
    }

    @Test(arguments: ["", "two words", "naïve", String(repeating: "x", count: 129)])
    func anIdentifierUnfitForLogsIsReplaced(offered: String) async throws {
        try await DevBackend.withServer { backend in
            let answer = try await TestClient(backend).get("/nowhere", headers: ["X-Request-Id": offered])
            let used = try answer.envelope(Ignored.self).meta.requestId
            #expect(used != offered)
            #expect(UUID(uuidString: used) != nil)
        }
    }

    @Test func unknownPathsAreNotFoundAndKnownOnesNameTheirMethods() async throws {
        try await DevBackend.withServer { backend in
            let client = TestClient(backend)
            for path in ["/nowhere", "/articles/1/comments", "/dev/stats", ""] {
                let answer = try await client.get(path)
                #expect(answer.status == 404)
                #expect(answer.code == "NOT_FOUND")
            }
            let outside = try await TestClient(backend.origin).get("/articles")
            #expect(outside.status == 404)
            let wrong = try await client.send("PUT", "/articles/1", body: Data("{}".utf8))
            #expect(wrong.status == 405)
            #expect(wrong.code == "METHOD_NOT_ALLOWED")
            #expect(wrong.header("Allow") == "GET, PATCH, DELETE")
        }
    }

    @Test(arguments: ["", "{", "[]", "7", #"{"refreshToken": "x""#])
    func whatIsNoJSONObjectIsMalformed(body: String) async throws {
        try await DevBackend.withServer { backend in
            let answer = try await TestClient(backend).post("/auth/refresh", json: body)
            #expect(answer.status == 400)
            #expect(answer.code == "MALFORMED_JSON")
        }
    }

    @Test func aBodyOverTheLimitIsTooLargeHoweverItIsSent() async throws {
        var configuration = DevBackend.Configuration()
        configuration.limits.bodyBytes = 100
        try await DevBackend.withServer(configuration) { backend in
            let declared = try await TestClient(backend).refresh(String(repeating: "x", count: 100))
            #expect(declared.status == 413)
            #expect(declared.code == "BODY_TOO_LARGE")

            let connection = try await RawConnection.open(to: backend)
            try await connection.send(
                "POST /api/v1/auth/refresh HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + "65\r\n" + String(repeating: "x", count: 101) + "\r\n")
            #expect(await connection.receive(until: "BODY_TOO_LARGE").hasPrefix("HTTP/1.1 413 "))
            try await connection.close()
        }
    }

    @Test func aHeadRequestIsAnsweredLikeItsGetWithoutContent() async throws {
        try await DevBackend.withServer { backend in
            let client = TestClient(backend)
            let token = try await client.signIn().accessToken
            let connection = try await RawConnection.open(to: backend)
            try await connection.send(
                "HEAD /api/v1/articles HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n"
                    + "Connection: close\r\n\r\n")
            let answer = await connection.receiveAll()
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(answer.hasSuffix("\r\n\r\n"))
            #expect(try await client.send("HEAD", "/nowhere").status == 404)
        }
    }
}
