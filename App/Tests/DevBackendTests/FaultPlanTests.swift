import Foundation
import Testing

@testable import DevBackend

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

    @Test func `every action can be encoded as JSON and decoded`() throws {
        let url = try URL(string: "http://127.0.0.1:1/x").required("a URL")
        let actions: [FaultAction] = [
            .delay(.milliseconds(20)), .jitter(upTo: .milliseconds(200)), .respond(status: 503),
            .respond(status: 429, retryAfter: .seconds(2), code: "SLOW_DOWN"), .refuseToken,
            .redirect(to: url, status: 308), .closeBeforeHandler, .closeAfterHandler,
            .delayResponse(.seconds(35)), .jitterResponse(upTo: .milliseconds(200)), .gateway(.forbidden),
            .gateway(.emptyUnauthorized),
        ]
        let plan = FaultPlan(actions.map { FaultRule("GET", "/x", $0, times: 3) }, strictRotation: true, seed: 9)
        #expect(try JSONDecoder().decode(FaultPlan.self, from: JSONEncoder().encode(plan)) == plan)
    }

    @Test func `all fields of a plan are optional`() throws {
        #expect(try JSONDecoder().decode(FaultPlan.self, from: Data("{}".utf8)) == .none)
        let json = #"{"rules": [{"path": "/x", "action": {"kind": "refuseToken"}}]}"#
        let plan = try JSONDecoder().decode(FaultPlan.self, from: Data(json.utf8))
        #expect(plan == FaultPlan([FaultRule(nil, "/x", .refuseToken)]))
    }

    @Test(arguments: [
        #"{"kind": "explode"}"#, #"{"kind": "delay"}"#, #"{"kind": "delay", "milliseconds": -1}"#,
        #"{"kind": "respond", "status": 99}"#, #"{"kind": "redirect", "url": "http://h", "status": 200}"#,
        #"{"kind": "gateway"}"#, #"{"kind": "gateway", "response": {"status": 99, "body": ""}}"#,
        #"{"kind": "delayResponse", "milliseconds": 600001}"#,
    ])
    func `an invalid action is rejected`(json: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(FaultAction.self, from: Data(json.utf8)) }
    }

    @Test func `rules apply in order and count only when they apply`() {
        let injector = FaultInjector(
            plan: FaultPlan([
                FaultRule("GET", "/a", .delay(.milliseconds(5)), times: 2),
                FaultRule(nil, "/*", .respond(status: 503), times: 1),
                FaultRule("GET", "/a", .closeAfterHandler),
            ]))
        #expect(injector.decision(method: "PUT", path: "/x/y") == .init())
        let first = injector.decision(method: "GET", path: "/a")
        #expect(first == .init(delay: .milliseconds(5), interruption: .respond(status: 503)))
        let second = injector.decision(method: "GET", path: "/a")
        #expect(second == .init(delay: .milliseconds(5), losesResponse: true))
        #expect(injector.decision(method: "GET", path: "/a") == .init(losesResponse: true))
        #expect(injector.plan.rules.map(\.remaining) == [0, 0, nil])
    }

    @Test func `a delay of the response does not delay the handler`() {
        let rules = [
            FaultRule(nil, "/a", .delayResponse(.seconds(35))),
            FaultRule(nil, "/a", .jitterResponse(upTo: .milliseconds(200))),
        ]
        let decision = FaultInjector(plan: FaultPlan(rules)).decision(method: "POST", path: "/a")
        #expect(decision.delay == .zero)
        #expect(decision.interruption == nil)
        #expect((.seconds(35)...(.milliseconds(35_200))).contains(decision.responseDelay))
    }

    @Test func `jitter is the same for the same seed, and stays in its bounds`() {
        func delays(seed: UInt64) -> [Duration] {
            let rule = FaultRule(nil, "/**", .jitter(upTo: .milliseconds(200)))
            let injector = FaultInjector(plan: FaultPlan([rule], seed: seed))
            return (0..<50).map { _ in injector.decision(method: "GET", path: "/").delay }
        }
        #expect(delays(seed: 7) == delays(seed: 7))
        #expect(delays(seed: 7) != delays(seed: 8))
        #expect(delays(seed: 7).allSatisfy { (.zero..<(.milliseconds(200))).contains($0) })
        #expect(Set(delays(seed: 7)).count > 40)
    }
}
