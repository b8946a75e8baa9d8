import AuthInterface
import Foundation
import HandlerTesting
import NetworkCore
import NetworkTesting
import OAuth2Flows
import Testing

/// DI1, DI2: what the words of providers mean, beside what must never end a session.
@Suite(.timeLimit(.minutes(10))) struct ProviderRefusalTests {
    /// The rules for a provider, and the lines of its responses by what they mean.
    struct Provider: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let rules: [RefreshRefusalRule]
        private let lines: [(fate: Substring, response: String)]

        init(_ name: String, _ rules: [RefreshRefusalRule], _ lines: some Sequence<Substring>) {
            (testDescription, self.rules) = (name, rules)
            self.lines = lines.map { ($0.prefix { $0 != " " }, String($0.dropFirst(7))) }
        }

        func responses(_ fate: String) -> [String] { lines.filter { $0.fate == fate }.map(\.response) }
    }

    /// The response of a line.
    static func answer(_ line: String) -> StubResponse {
        var words = line.split(separator: " ", omittingEmptySubsequences: false)
        let status = Int(words.removeFirst()) ?? 0
        var headers: HTTPHeaders = ["Content-Type": "application/json"]
        while let field = words.first, field.hasPrefix("@"), let sign = field.firstIndex(of: "=") {
            try? headers.set(String(field[..<sign].dropFirst()), to: String(field[sign...].dropFirst()))
            words.removeFirst()
        }
        return .status(status, headers: headers, body: Data(words.joined(separator: " ").utf8))
    }

    static func answer(_ status: Int, _ body: String) -> StubResponse { answer("\(status) \(body)") }

    static func handler(
        of response: StubResponse, _ rules: [RefreshRefusalRule] = [], as client: OAuth2Client = .fixture
    ) -> OAuth2TokenRefreshHandler {
        var handler = OAuth2TokenRefreshHandler(StubTransport(.post("oauth2/token") ~> response), as: client)
        handler.refusals = rules
        return handler
    }

    static func error(after response: StubResponse, _ rules: [RefreshRefusalRule] = []) async -> TokenRefreshError? {
        await handler(of: response, rules).refreshError()
    }

    /// What a response means; an answer with a token is no failure.
    static func verdict(on response: StubResponse, _ rules: [RefreshRefusalRule]) async -> TokenRefreshError.Code? {
        do {
            _ = try await handler(of: response, rules).refresh(.fixture)
            return nil
        } catch { return (error as? TokenRefreshError)?.code }
    }

    @Test(arguments: providers)
    func `a dead refresh token ends the session, and nothing else does`(_ provider: Provider) async {
        let fates: [(String, TokenRefreshError.Code)] = [
            ("dead", .rejected), ("dying", .ambiguous), ("asking", .userActionRequired),
        ]
        for (fate, code) in fates {
            for line in provider.responses(fate) {
                #expect(await Self.verdict(on: Self.answer(line), provider.rules) == code, "\(line)")
            }
        }
        for line in provider.responses("living") + Self.everywhere {
            let verdict = await Self.verdict(on: Self.answer(line), provider.rules)
            #expect(verdict == .unavailable || verdict == nil, "\(line)")
        }
    }

    @Test(arguments: providers.filter { !$0.rules.isEmpty })
    func `a preset holds where it was chosen only`(_ provider: Provider) async {
        for line in provider.responses("dead") + provider.responses("dying") where !line.contains("invalid_grant") {
            #expect(await Self.verdict(on: Self.answer(line), []) == .unavailable, "\(line)")
        }
    }

    // MARK: What asks the user

    static let demands: [(body: String, challenge: StepUpChallenge)] = [
        (
            #""invalid_grant","suberror":"basic_action","claims":"{\"access_token\":{}}""#,
            StepUpChallenge(.interaction, claims: #"{"access_token":{}}"#, suberror: "basic_action")
        ),
        (#""invalid_grant","claims":{"a":1}"#, StepUpChallenge(.interaction, claims: #"{"a":1}"#)),
        (
            #""invalid_grant","suberror":"consent_required""#,
            StepUpChallenge(.interaction, suberror: "consent_required")
        ),
        (#""invalid_grant","error_subtype":"invalid_rapt""#, StepUpChallenge(.interaction, suberror: "invalid_rapt")),
        (#""interaction_required""#, StepUpChallenge(.interaction)),
        (#""login_required","scope":"a b""#, StepUpChallenge(.init(rawValue: "login_required"), scope: "a b")),
        (#""mfa_required""#, StepUpChallenge(.init(rawValue: "mfa_required"))),
        (#""consent_required""#, StepUpChallenge(.init(rawValue: "consent_required"))),
    ]

    @Test(arguments: demands)
    func `G32: a demand of the user ends nothing, and says what it is`(body: String, challenge: StepUpChallenge) async {
        for status in [400, 401, 403] {
            let error = await Self.error(after: Self.answer(status, #"{"error":\#(body)}"#), [])
            #expect(error?.code == .userActionRequired && error?.stepUp == challenge && error?.status == status)
        }
    }

    @Test func `G17: a challenge quotes no secret of the call, and none that is too long`() async {
        let long = String(repeating: "x", count: StepUpChallenge.maximumLength + 1)
        let secrets = #""suberror":"for fixture-refresh","claims":"fixture-refresh""#
        let body = #"{"error":"invalid_grant",\#(secrets),"scope":"\#(long)"}"#
        let error = await Self.error(after: Self.answer(400, body), [])
        #expect(error?.code == .userActionRequired && error?.stepUp?.claims == nil && error?.stepUp?.scope == nil)
        #expect(error.map { "\($0) \(String(reflecting: $0.stepUp))".contains("fixture-refresh") } == false)
    }

    // MARK: Rules of the application

    @Test func `what never ends wins over every rule`() async throws {
        let never = try RefreshRefusalRule.neverEnds("bad_refresh_token", "invalid_grant")
        let dead = Self.answer(400, #"{"error":"bad_refresh_token"}"#)
        #expect(await Self.verdict(on: dead, .gitHub + [never]) == .unavailable)
        #expect(await Self.verdict(on: Self.answer(400, #"{"error":"invalid_grant"}"#), [never]) == .unavailable)
        let own = try RefreshRefusalRule(codes: ["invalid_client"], at: ["error"])
        #expect(await Self.verdict(on: Self.answer(400, #"{"error":"invalid_client"}"#), [own]) == .unavailable)
        let precise = try RefreshRefusalRule(codes: ["invalid_client"], at: ["error"], containing: "token is gone")
        let body = #"{"error":"invalid_client","error_description":"The token is gone."}"#
        #expect(await Self.verdict(on: Self.answer(400, body), [precise]) == .rejected)
        let disabled = Self.answer(400, #"{"error":{"code":400,"message":"USER_DISABLED"}}"#)
        #expect(await Self.verdict(on: disabled, .firebase + [try .neverEnds("user_disabled")]) == .unavailable)
    }

    @Test(arguments: [
        ("type", "https://api.example.com/problems/gone"), ("error", "urn:example:gone"), ("error", "gone"),
    ])
    func `a code may be a URL, or have details behind a colon`(place: String, code: String) async throws {
        let rule = try RefreshRefusalRule(codes: [code], at: [place])
        for text in [code, code + ": since today"] where text == code || !code.contains(":") {
            #expect(await Self.verdict(on: Self.answer(400, #"{"\#(place)":"\#(text)"}"#), [rule]) == .rejected)
        }
    }

    @Test func `a member that cannot be read does not hide the code`() async {
        let body = Data(#"{"error":"invalid_grant","error_description":"expir"#.utf8) + [0xE9] + Data(#""}"#.utf8)
        let error = await Self.error(after: .status(400, body: body))
        #expect(error?.code == .rejected && error?.serverCode == "invalid_grant")
    }

    @Test func `a code without a rule is named, with the rule to add`() async {
        let reason = await Self.error(after: Self.answer(400, #"{"error":"token_gone"}"#), [])?.reason
        #expect(reason?.contains("token_gone") == true && reason?.contains("RefreshRefusalRule") == true)
    }

    @Test func `a rule that cannot hold is refused when it is made`() {
        func refused(_ make: () throws -> RefreshRefusalRule) -> Bool {
            do { _ = try make() } catch { return error is InvalidRefusalRule && !"\(error)".isEmpty }
            return false
        }
        let codes: Set = ["X"]
        #expect(refused { try RefreshRefusalRule(codes: []) })
        #expect(refused { try RefreshRefusalRule(codes: ["X", ""]) })
        #expect(refused { try RefreshRefusalRule.neverEnds() })
        #expect(refused { try RefreshRefusalRule.neverEnds("") })
        for place in ["", "a..b", "a[0]", "errors[].", "header:", "header:a b", "/error", "*"] {
            #expect(refused { try RefreshRefusalRule(codes: codes, at: [place]) }, "\(place)")
        }
        #expect(refused { try RefreshRefusalRule(codes: codes, at: []) })
        for status in [201, 302, 408, 425, 429, 500, 503] {
            #expect(refused { try RefreshRefusalRule(codes: codes, statuses: [400, status]) }, "\(status)")
        }
        #expect(refused { try RefreshRefusalRule(codes: codes, statuses: []) })
        #expect(refused { try RefreshRefusalRule(codes: codes, containing: "") })
        #expect(refused { try RefreshRefusalRule(codes: codes, resource: "") })
        #expect(refused { try RefreshRefusalRule(.init(rawValue: "other"), codes: codes) })
        #expect(!refused { try RefreshRefusalRule(codes: codes, at: ["[].code", "a.b[].c", "header:X-Code"]) })
    }

    // MARK: Tokens that no request can carry

    @Test func `DI3: a token of another type is usable where the client says so, and else named`() async throws {
        let ebay = StubResponse.text(
            #"{"access_token":"a1","token_type":"User Access Token","expires_in":7200,"refresh_token":"r1"}"#)
        let unusable = try await Self.handler(of: ebay).refresh(.fixture)
        #expect(unusable.accessToken.isEmpty && unusable.refreshToken == "r1")
        #expect(unusable.accessTokenProblem?.contains("bearerTokenTypes") == true)
        var client = OAuth2Client.fixture
        client.bearerTokenTypes.insert("user access token")
        #expect(try await Self.handler(of: ebay, as: client).refresh(.fixture).accessToken == "a1")
    }

    @Test func `DI3, DI6: other members are named, and expires_on is read`() async throws {
        let other = StubResponse.text(#"{"token":"a1","refresh_token":"r1"}"#)
        let problem = try await Self.handler(of: other).refresh(.fixture).accessTokenProblem
        #expect(problem?.contains("refresh_token, token") == true)
        let body = #"{"access_token":"a1","token_type":"Bearer","expires_on":"1785400000"}"#
        let azure = try await Self.handler(of: .text(body)).refresh(.fixture)
        #expect(azure.expiresAt?.timeIntervalSince1970 == 1_785_400_000)
        let both = #"{"access_token":"a1","token_type":"Bearer","expires_at":"soon","expires_on":"1785400000"}"#
        #expect(try await Self.handler(of: .text(both)).refresh(.fixture).expiresAt == azure.expiresAt)
        let american = #"{"access_token":"a1","token_type":"Bearer","expires_on":"09/14/2017 00:00:00 PM +00:00"}"#
        let unread = try await Self.handler(of: .text(american)).refresh(.fixture)
        #expect(unread.expiresAt == nil && unread.unreadExpiry?.isEmpty == false)
    }
}
