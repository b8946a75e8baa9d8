import DevBackend
import Foundation
import Testing

@Suite(.hangLimit) struct FaultTests {
    @Test func `a requested response replaces the handler as often as the rule says`() async throws {
        var configuration = DevBackend.Configuration()
        configuration.faults = FaultPlan([
            FaultRule("POST", "/auth/refresh", .respond(status: 503, retryAfter: .milliseconds(1500)), times: 1)
        ])
        try await DevBackend.withServer(configuration) { backend in
            let client = TestClient(backend)
            let signedIn = try await client.signIn()

            let busy = try await client.refresh(signedIn.refreshToken)

            #expect(busy.status == 503)
            #expect(busy.code == "FAULT_INJECTED")
            #expect(busy.header("Retry-After") == "2")
            #expect(backend.statistics.refreshes == .init(received: 1))
            #expect(backend.faults.rules.map(\.remaining) == [0])
            #expect(try await client.refresh(signedIn.refreshToken).status == 200)
        }
    }

    @Test func `a refresh works while every access token is refused`() async throws {
        try await DevBackend.withServer { backend in
            let client = TestClient(backend)
            let signedIn = try await client.signIn()
            backend.faults = .refusingEveryAccessToken
            for path in ["/articles", "/articles/1", "/users/me", "/files/x"] {
                let response = try await client.get(path, token: signedIn.accessToken)
                #expect(response.status == 401)
                #expect(response.header("WWW-Authenticate")?.contains("invalid_token") == true)
            }
            #expect(try await client.refresh(signedIn.refreshToken).status == 200)
            backend.faults = .none
            #expect(try await client.get("/articles", token: signedIn.accessToken).status == 200)
        }
    }

    @Test func `a connection that is closed before the handler changes nothing`() async throws {
        try await DevBackend.withServer { backend in
            let signedIn = try await TestClient(backend).signIn()
            backend.faults = FaultPlan([FaultRule("POST", "/auth/refresh", .closeBeforeHandler)])
            await #expect(throws: (any Error).self) { try await TestClient(backend).refresh(signedIn.refreshToken) }
            backend.faults = .none
            #expect(backend.statistics.refreshes.committed == 0)
            let entry = try backend.journal.last.required("an entry")
            #expect(entry.status == nil)
            #expect(entry.completedAt != nil)
            #expect(try await TestClient(backend).refresh(signedIn.refreshToken).status == 200)
        }
    }

    @Test func `a connection that is closed after the handler leaves the token rotated`() async throws {
        try await DevBackend.withServer { backend in
            let signedIn = try await TestClient(backend).signIn()
            backend.faults = FaultPlan([FaultRule("POST", "/auth/refresh", .closeAfterHandler, times: 1)])
            await #expect(throws: (any Error).self) { try await TestClient(backend).refresh(signedIn.refreshToken) }
            #expect(backend.statistics.refreshes.committed == 1)
            let again = try await TestClient(backend).refresh(signedIn.refreshToken)
            #expect(again.code == "REFRESH_TOKEN_REUSED", "no grace window was configured")
        }
    }

    @Test(arguments: [302, 307, 308])
    func `a redirect leads to the other origin, and its journal shows the credentials`(status: Int) async throws {
        try await DevBackend.withServer { target in
            try await DevBackend.withServer { backend in
                let url = target.origin.appendingPathComponent("elsewhere")
                backend.faults = FaultPlan([FaultRule("GET", "/articles", .redirect(to: url, status: status))])
                let connection = try await RawConnection.open(to: backend)
                try await connection.send("GET /api/v1/articles HTTP/1.1\r\nHost: localhost\r\n\r\n")
                let response = await connection.receive(until: "\r\n\r\n")
                #expect(response.hasPrefix("HTTP/1.1 \(status) "))
                #expect(response.contains("\r\nLocation: \(url.absoluteString)\r\n"))
                try await connection.close()

                let headers = ["accessToken": "x", "Cookie": "a=b"]
                _ = try await TestClient(target.origin).get("/elsewhere?token=x", token: "x", headers: headers)
                _ = try await TestClient(target.origin).get("/elsewhere")
                #expect(target.journal.map(\.path) == ["/elsewhere", "/elsewhere"])
                #expect(target.journal.map(\.credentialFields) == [["accesstoken", "authorization", "cookie"], []])
                #expect(target.journal.map(\.carriedCredentials) == [true, false])
                #expect(target.journal.map(\.status) == [404, 404])
            }
        }
    }

    @Test func `a delay delays the response`() async throws {
        var configuration = DevBackend.Configuration()
        configuration.faults = FaultPlan([FaultRule("GET", "/nowhere", .delay(.milliseconds(50)))])
        try await DevBackend.withServer(configuration) { backend in
            let response = try await TestClient(backend).get("/nowhere")
            #expect(response.status == 404)
            #expect(try response.envelope(Received.Ignored.self).meta.durationMs >= 50)
        }
    }

    @Test func `faults, expiry and statistics are available over HTTP if allowed`() async throws {
        var configuration = DevBackend.Configuration()
        configuration.allowsDevEndpoints = true
        try await DevBackend.withServer(configuration) { backend in
            let client = TestClient(backend)
            let token = try await client.signIn().accessToken
            let json = #"{"rules": [{"path": "/**", "action": {"kind": "respond", "status": 500}}]}"#
            #expect(try await client.post("/dev/faults", json: json).status == 200)
            #expect(backend.faults == FaultPlan([FaultRule(nil, "/**", .respond(status: 500))]))
            #expect(try await client.get("/articles", token: token).status == 500)
            #expect(try await client.post("/dev/faults", json: "{}").status == 200, "faults do not apply to /dev")
            #expect(try await client.get("/articles", token: token).status == 200)

            let expired = try await client.post("/dev/expire", json: "{}")
            #expect(try expired.data([String: Int].self) == ["epoch": 1])
            #expect(try await client.get("/articles", token: token).code == "TOKEN_EXPIRED")

            let statistics = try await client.get("/dev/stats").data(ServerStatistics.self)
            #expect(statistics.requests == 8)
            #expect(statistics.registrations == 1)
            #expect(statistics.count("GET", "/articles") == 3)
            #expect(statistics.count("GET", "/articles", status: 401) == 1)
            #expect(try await client.post("/dev/faults", json: #"{"rules": [{}]}"#).fields == ["rules.Index 0.path"])
        }
    }
}
