import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import HandlerTesting
import NetworkCore
import NetworkTesting
import OAuth2Flows
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct DeviceSignInTests {
    private let clock = JumpingClock()
    private let session = StubSession(.signedOut(.never))
    private let server = OAuth2Server(
        issuer: "https://id.example.com", tokenEndpoint: .tokenEndpoint,
        deviceAuthorizationEndpoint: URL(string: "https://id.example.com/device"))
    private static let pending = error("authorization_pending")

    private static func code(_ members: String = #""expires_in":600,"interval":5"#) -> StubResponse {
        .text(
            #"{"device_code":"fixture-device","user_code":"WDJB-MJHT","verification_uri":"https://id.example.com/a",\#(members)}"#
        )
    }

    private static func error(_ code: String) -> StubResponse {
        .status(400, headers: ["Content-Type": "application/json"], body: Data(#"{"error":"\#(code)"}"#.utf8))
    }

    private func signIn(_ transport: StubTransport, clock: any TimeSource) -> OAuth2DeviceSignIn {
        OAuth2DeviceSignIn(server: server, client: .fixture, network: NetworkClient(transport), clock: clock)
    }

    /// Signs in with the responses to the polls, and returns the pauses before them in seconds.
    private func poll(code: StubResponse = code(), _ responses: [StubResponse]) async throws -> [Double] {
        let transport = StubTransport(.any ~> code)
        for response in responses { transport.add(.any ~> response) }
        try await signIn(transport, clock: clock).start(session) { code in
            #expect(code.userCode == "WDJB-MJHT")
            #expect(!"\(code) \(String(reflecting: code))".contains("fixture-device"))
        }
        #expect(
            transport.requests.last?.text.contains(
                "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code&device_code=fixture-device") == true)
        return clock.pauses
    }

    @Test func `the token endpoint is polled at the interval until the user has decided`() async throws {
        let tokens = #"{"access_token":"a","token_type":"bearer","expires_in":60,"refresh_token":"fixture-refresh"}"#
        let code = Self.code(#""expires_in":600,"interval":7"#)
        #expect(try await poll(code: code, [Self.pending, .text(tokens)]) == [7, 7])
        #expect(session.signIns.map(\.refreshToken) == ["fixture-refresh"])
        #expect(session.signIns.first?.expiresIn == .seconds(60))
    }

    private static func twitch(_ message: String) -> StubResponse {
        .text(#"{"status":400,"message":"\#(message)"}"#, status: 400)
    }

    /// Responses before the tokens, and the pauses.
    static let waits: [(responses: [StubResponse], pauses: [Double])] = [
        // Each `slow_down` adds five seconds to every later pause.
        ([error("slow_down"), pending, error("slow_down")], [5, 10, 10, 15]),
        // A server that fails, or is not reached, is polled ever more slowly.
        ([.status(503), .status(502), pending], [5, 10, 20, 5]),
        ([.failure(.connectionFailed), .failure(.timedOut), pending], [5, 10, 20, 5]),
        // A code in a successful response is the server's.
        ([.text(#"{"error":"authorization_pending"}"#)], [5, 5]),
        // A message of Twitch is its code.
        (Array(repeating: twitch("authorization_pending"), count: 6), Array(repeating: 5, count: 7)),
        // An empty 400 is pending, and a 429 waits as it says.
        ([.status(400), .status(429, headers: ["Retry-After": "60"]), .status(400)], [5, 5, 60, 5]),
    ]

    @Test(arguments: waits.indices)
    func `polling goes on while the server waits for the user, or is not reached`(_ index: Int) async throws {
        let (responses, pauses) = Self.waits[index]
        #expect(try await poll(responses + [.text(LoopbackProvider.tokens)]) == pauses)
    }

    static let responsesFromBetween: [StubResponse] = [
        .body("<html>Welcome to the hotel</html>", status: 200, type: "text/html"),
        .body("<html>No.</html>", status: 401, type: nil), .body("<html>No.</html>", status: 403, type: "text/html"),
        .body("No.", status: 404, type: "text/html"), .text(#"{"message":"Forbidden"}"#, status: 403),
        .text(#"{"message":"Unauthorized"}"#, status: 401), .status(401), .status(200), .text("{}"), .status(429),
        .status(404), .body("Gone", status: 410, type: nil), .text(#"{"message":"Gone"}"#, status: 410), .redirect,
    ]

    @Test(arguments: responsesFromBetween)
    func `G4: a page or a gateway between does not end the sign-in`(_ response: StubResponse) async throws {
        #expect(try await poll([response, Self.pending, .text(LoopbackProvider.tokens)]) == [5, 10, 5])
        #expect(session.signIns.map(\.refreshToken) == ["fixture-refresh"])
    }

    /// Responses to polls, how the last one ends the sign-in, and the code of the server where it has one.
    static let ends: [(responses: [StubResponse], code: String, serverCode: String?)] = [
        ([error("access_denied")], "denied", "access_denied"), ([error("expired_token")], "expired", "expired_token"),
        ([error("authorization_declined")], "denied", "authorization_declined"),
        ([error("invalid_grant")], "refused", "invalid_grant"),
        ([.text(#"{"error":"access_denied"}"#)], "denied", "access_denied"),
        ([twitch("authorization_pending"), twitch("invalid device code")], "expired", nil),
        // A bare status that no gateway sends.
        ([.status(409)], "expired", nil), ([.status(410)], "expired", nil), ([.status(418)], "denied", nil),
        // A bare status of a server that says pending by one.
        ([.status(400), .status(404)], "expired", nil), ([.status(400), .status(409)], "expired", nil),
        ([.status(400), .status(410)], "expired", nil), ([.status(400), .status(418)], "denied", nil),
    ]

    @Test(arguments: ends.indices)
    func `a refusal, or a status that stands for one, ends the sign-in`(_ index: Int) async throws {
        let (responses, code, serverCode) = Self.ends[index]
        let failure = await signInError { try await poll(responses) }
        #expect(failure?.code.rawValue == code && (serverCode == nil || failure?.serverCode == serverCode))
        #expect(clock.pauses == Array(repeating: 5, count: responses.count) && session.signIns.isEmpty)
    }

    @Test(arguments: [("-1", 5.0), ("0", 5), ("0.001", 1), ("86400", 120), (#""x""#, 5)])
    func `an interval out of bounds is not used`(_ interval: String, _ pause: Double) async throws {
        let code = Self.code(#""interval":\#(interval)"#)
        #expect(try await poll(code: code, [.text(LoopbackProvider.tokens)]) == [pause])
    }

    @Test func `a user who does not decide ends the sign-in when the code expires`() async throws {
        let code = Self.code(#""expires_in":12,"interval":5"#)
        let failure = await signInError { try await poll(code: code, [Self.pending, Self.pending]) }
        #expect(failure?.code == .expired)
        #expect(clock.pauses == [5, 5, 2])
    }

    @Test func `the target is named when the sign-in asks for the code and for the tokens`() async throws {
        let provider = try LoopbackProvider()
        var signIn = provider.deviceSignIn()
        signIn.target = try OAuth2Target(resources: [.api, .tokenEndpoint], audiences: ["notes"])
        try await signIn.start(session) { _ in }
        #expect(provider.calls.map(\.path) == ["/device", "/token"])
        for call in provider.calls { #expect(call[form: "resource"].count == 2 && call[form: "audience"] == ["notes"]) }
    }

    @Test func `a cancelled sign-in ends at once`() async throws {
        let transport = StubTransport(.any ~> Self.code())
        let clock = ManualTimeSource()
        let task = Task { try await signIn(transport, clock: clock).start(session) { _ in } }
        try await clock.sleepers(atLeast: 1)
        await expectCancellation(of: task)
    }

    /// Responses to the request for a code, and the code of the error.
    static let unusable: [(response: StubResponse, code: String)] =
        [
            #"{"device_code":"","user_code":"A","verification_uri":"https://id.example.com/a"}"#,
            #"{"device_code":"fixture-device","user_code":"A\u001b[31m","verification_uri":"https://id.example.com/a"}"#,
            #"{"device_code":"fixture-device","user_code":"A","verification_uri":"http://id.example.com/a"}"#,
            #"{"device_code":"fixture-device","user_code":"A","verification_uri":"javascript:alert(1)"}"#, "{}", "[]",
        ].map { (.text($0), "invalidResponse") } + [(.redirect, "redirected")]

    @Test(arguments: unusable.indices)
    func `G15: an invalid response, and a redirect, are refused and not shown`(_ index: Int) async throws {
        let signIn = signIn(StubTransport(.any ~> Self.unusable[index].response), clock: clock)
        let failure = await signInError { try await signIn.start(session) { _ in Issue.record("shown") } }
        #expect(failure?.code.rawValue == Self.unusable[index].code)
        #expect(failure.map { !"\($0)".contains("fixture-device") } == true)
    }
}

/// A clock whose sleepers wake at once, at the time they asked for.
final class JumpingClock: TimeSource {
    private let state = Locked<(uptime: Duration, pauses: [Duration])>((.seconds(1_000), []))

    var uptime: Duration { state.withLock { $0.uptime } }
    var date: Date { Date(timeIntervalSince1970: 1_800_000_000) }
    var pauses: [Double] { state.withLock { $0.pauses.map { $0 / .seconds(1) } } }

    func sleep(until deadline: Duration) async throws {
        try Task.checkCancellation()
        state.withLock { state in
            state.pauses.append(deadline - state.uptime)
            state.uptime = deadline
        }
    }
}
