import Foundation
import ProgramTesting
import Testing

@testable import DevBackend

@Suite(.hangLimit) struct FaultTests {
    @Test(.server { $0.allowsDevEndpoints = true })
    func `faults, expiry and statistics are available over HTTP if allowed`() async throws {
        let token = try await client.signIn().accessToken
        let json = #"{"rules": [{"path": "/**", "action": {"kind": "respond", "status": 500}}]}"#
        #expect(try await client.post("/dev/faults", json: json).status == 200)
        #expect(backend.faults == FaultPlan([FaultRule(nil, "/**", .respond(status: 500))]))
        #expect(try await client.get("/articles", token: token).status == 500)
        #expect(try await client.post("/dev/faults", json: "{}").status == 200, "faults do not apply to /dev")
        #expect(try await client.get("/articles", token: token).status == 200)
        #expect(try await client.post("/dev/expire", json: "{}").status == 200)
        #expect(try await client.get("/articles", token: token).code == "TOKEN_EXPIRED")
        let statistics = try await client.get("/dev/stats").data(ServerStatistics.self)
        #expect(statistics.requests == 8)
        #expect(statistics.registrations == 1)
        #expect(statistics.count("GET", "/articles") == 3)
        #expect(statistics.count("GET", "/articles", status: 401) == 1)
        #expect(try await client.post("/dev/faults", json: #"{"rules": [{}]}"#).fields == ["rules.Index 0.path"])
    }

    private static let program = ["Host": "127.0.0.1", "Content-Type": "application/json"]

    /// What a page can send, and the status for it.
    private static let pages: [(fields: [String: String], status: Int)] = [
        (["Origin": "https://evil.example"], 403), (["Origin": "null"], 403),
        (["Origin": "http://127.0.0.1:8080"], 403),
        (["Sec-Fetch-Site": "cross-site"], 403), (["Sec-Fetch-Site": "same-origin"], 403),
        (["Host": "evil.example"], 403), (["Host": "127.0.0.1.evil.example"], 403),
        (["Host": "localhost.evil.example"], 403),
        (["Content-Type": "text/plain"], 415), (["Content-Type": "application/x-www-form-urlencoded"], 415),
        (["Content-Type": "text/plain; x=application/json"], 415), (["Content-Type": ""], 415),
        ([:], 200), (["Host": "LocalHost:80"], 200), (["Host": "[::1]:80"], 200),
        (["Content-Type": "application/json; charset=utf-8"], 200), (["Sec-Fetch-Site": "none"], 200),
    ]

    @Test(.server { $0.allowsDevEndpoints = true })
    func `no page of a browser can inject faults, expire tokens or read statistics`() async throws {
        let body = #"{"rules": [{"path": "/**", "action": {"kind": "respond", "status": 500}}]}"#
        for (fields, status) in Self.pages {
            let fields = Self.program.merging(fields) { $1 }.filter { !$0.value.isEmpty }
            for (method, path) in [("POST", "faults"), ("POST", "expire"), ("GET", "stats")] {
                backend.faults = FaultPlan()
                let lines = fields.map { "\($0.key): \($0.value)\r\n" }.sorted().joined()
                let connection = try await RawConnection.open(to: backend)
                try await connection.send(
                    "\(method) /api/v1/dev/\(path) HTTP/1.1\r\n\(lines)Connection: close\r\n"
                        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
                let response = await connection.receiveText()
                let expected = status == 415 && method == "GET" ? 200 : status
                #expect(response.hasPrefix("HTTP/1.1 \(expected) "), "\(method) \(path) \(fields): \(response)")
                #expect((backend.faults == FaultPlan()) == (status != 200 || path != "faults"))
            }
        }
    }
}

@Suite(.hangLimit) struct FaultPlanTests {
    @Test(arguments: [
        ("/articles", "/articles", true), ("/articles", "/articles/", true), ("/articles", "/articles/7", false),
        ("/articles/*", "/articles/7", true), ("/articles/*", "/articles", false), ("/articles/*", "/users/7", false),
        ("/articles/**", "/articles", true), ("/articles/**", "/articles/7/x", true), ("/articles/**", "/art", false),
        ("/**", "/", true), ("/**", "/any/thing", true), ("/*/me", "/users/me", true), ("/", "/", true),
    ])
    func `a pattern matches by segments`(pattern: String, path: String, isMatch: Bool) {
        #expect(PathPattern(pattern).matches(path) == isMatch)
    }

    @Test func `a plan can be JSON, and all of its fields are optional`() throws {
        let json = #"""
            {"rules": [
            {"method": "GET", "path": "/x", "action": {"kind": "delayResponse", "milliseconds": 20}, "remaining": 3},
            {"path": "/x", "action": {"kind": "respond", "status": 429, "code": "SLOW"}},
            {"path": "/x", "action": {"kind": "refuseToken"}},
            {"path": "/x", "action": {"kind": "closeBeforeHandler"}},
            {"path": "/x", "action": {"kind": "closeAfterHandler"}}]}
            """#
        let actions: [FaultAction] = [
            .respond(status: 429, code: "SLOW"), .refuseToken, .closeBeforeHandler, .closeAfterHandler,
        ]
        let rules = [FaultRule("GET", "/x", .delayResponse(.milliseconds(20)), times: 3)]
        let plan = FaultPlan(rules + actions.map { FaultRule(nil, "/x", $0) })
        #expect(try JSONDecoder().decode(FaultPlan.self, from: Data(json.utf8)) == plan)
        #expect(try JSONDecoder().decode(FaultPlan.self, from: Data("{}".utf8)) == .none)
    }

    @Test(arguments: [
        #"{"kind": "explode"}"#, #"{"kind": "delayResponse"}"#, #"{"kind": "delayResponse", "milliseconds": -1}"#,
        #"{"kind": "respond", "status": 99}"#, #"{"kind": "delayResponse", "milliseconds": 600001}"#,
    ])
    func `an invalid action is rejected`(json: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(FaultAction.self, from: Data(json.utf8)) }
    }

    @Test func `rules apply in order and count only when they apply`() {
        let injector = FaultInjector(
            plan: FaultPlan([
                FaultRule("GET", "/a", .delayResponse(.milliseconds(5)), times: 2),
                FaultRule(nil, "/*", .respond(status: 503), times: 1),
                FaultRule("GET", "/a", .closeAfterHandler),
            ]))
        #expect(injector.decision(method: "PUT", path: "/x/y") == .init())
        let first = injector.decision(method: "GET", path: "/a")
        #expect(first == .init(responseDelay: .milliseconds(5), interruption: .respond(status: 503)))
        #expect(
            injector.decision(method: "GET", path: "/a") == .init(responseDelay: .milliseconds(5), losesResponse: true))
        #expect(injector.decision(method: "GET", path: "/a") == .init(losesResponse: true))
        #expect(injector.plan.rules.map(\.remaining) == [0, 0, nil])
    }

    @Test func `a delay of the response does not delay the handler, and jitter stays in its bounds`() {
        let rules = [
            FaultRule(nil, "/a", .delayResponse(.seconds(35))), FaultRule(nil, "/b", .jitter(upTo: .milliseconds(200))),
        ]
        let injector = FaultInjector(plan: FaultPlan(rules))
        #expect(injector.decision(method: "POST", path: "/a") == .init(responseDelay: .seconds(35)))
        let delays = (0..<50).map { _ in injector.decision(method: "GET", path: "/b").delay }
        #expect(delays.allSatisfy { (.zero..<(.milliseconds(200))).contains($0) })
        #expect(Set(delays).count > 40)
    }
}
