import ContractTesting
import DevBackend
import Foundation
import ProgramTesting
import Testing

@Suite(.hangLimit) struct EnvelopeTests {
    @Test(.server(hasClock: true)) func `every response is an envelope with the request's identifier`() async throws {
        let token = try await client.signIn().accessToken
        let response = try await client.get(
            "/articles?limit=1", token: token, headers: ["X-Request-Id": "app-1.2_3"])
        let envelope = try response.envelope(Received.Page.self)
        #expect(envelope.success)
        #expect(envelope.code == "OK")
        #expect(envelope.errors == nil)
        #expect(envelope.meta.path == "/api/v1/articles")
        #expect(envelope.meta.requestId == "app-1.2_3")
        #expect(envelope.meta.timestamp == clock.date)
        #expect(envelope.meta.durationMs >= 0)
        #expect(response.header("X-Request-Id") == "app-1.2_3")
        #expect(response.header("Date") == "Fri, 15 Jan 2027 08:00:00 GMT")
        #expect(response.header("Content-Type") == "application/json; charset=utf-8")
    }

    @Test(.server, arguments: ["", "two words", "naïve", String(repeating: "x", count: 129)])
    func `a request identifier that is unsafe in logs is replaced`(offered: String) async throws {
        let response = try await client.get("/nowhere", headers: ["X-Request-Id": offered])
        let used = try response.envelope(Received.Ignored.self).meta.requestId
        #expect(used != offered)
        #expect(UUID(uuidString: used) != nil)
    }

    @Test(.server) func `an unknown path gets 404, and an unknown method 405 with the known ones`() async throws {
        for path in ["/nowhere", "/articles/1/comments", "/dev/stats", ""] {
            let response = try await client.get(path)
            #expect(response.outcome == "404 NOT_FOUND")
            let text = String(decoding: response.data, as: UTF8.self)
            for absent in [#""data":null"#, #""errors":null"#, #""success":false"#] {
                #expect(text.contains(absent))
            }
        }
        #expect(try await TestClient(backend.origin).get("/articles").status == 404)
        let wrong = try await client.send("PUT", "/articles/1", body: Data("{}".utf8))
        #expect(wrong.outcome == "405 METHOD_NOT_ALLOWED")
        #expect(wrong.header("Allow") == "GET, PATCH, DELETE")
    }

    @Test(.server, arguments: ["", "{", "[]", "7", #"{"refreshToken": "x""#])
    func `a body that is not a JSON object is malformed`(body: String) async throws {
        #expect(try await client.post("/auth/refresh", json: body).outcome == "400 MALFORMED_JSON")
    }

    @Test(.server { $0.limits.bodyBytes = 100 })
    func `a body over the limit is too large, with or without a declared length`() async throws {
        #expect(try await client.refresh(String(repeating: "x", count: 100)).outcome == "413 BODY_TOO_LARGE")
        let connection = try await RawConnection.open(to: backend)
        try await connection.send(
            "POST /api/v1/auth/refresh HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "65\r\n" + String(repeating: "x", count: 101) + "\r\n")
        #expect(await connection.receive(until: "BODY_TOO_LARGE").hasPrefix("HTTP/1.1 413 "))
        try await connection.close()
    }
}
