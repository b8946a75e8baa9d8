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
    private static let tokens = StubResponse.text(
        #"{"access_token":"fixture-access","token_type":"bearer","expires_in":60,"refresh_token":"fixture-refresh"}"#)

    private static func code(_ members: String = #""expires_in":600,"interval":5"#) -> StubResponse {
        .text(
            #"{"device_code":"fixture-device","user_code":"WDJB-MJHT","verification_uri":"https://id.example.com/a",\#(members)}"#
        )
    }

    private static func error(_ code: String) -> StubResponse {
        .status(400, headers: ["Content-Type": "application/json"], body: Data(#"{"error":"\#(code)"}"#.utf8))
    }

    /// Signs in, and returns the pauses before the polls in seconds.
    private func signIn(_ responses: StubResponse...) async throws -> [Double] {
        let transport = StubTransport()
        for response in responses { transport.add(.any ~> response) }
        let signIn = OAuth2DeviceSignIn(
            server: server, client: .public(id: "fixture-client"), network: NetworkClient(transport), clock: clock)
        try await signIn.start(session) { code in
            #expect(code.userCode == "WDJB-MJHT")
            #expect(!"\(code) \(String(reflecting: code))".contains("fixture-device"))
        }
        #expect(
            transport.requests.last?.text.contains(
                "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code&device_code=fixture-device") == true)
        return clock.pauses
    }

    @Test func `the token endpoint is polled at the interval until the user has decided`() async throws {
        let pauses = try await signIn(
            Self.code(#""expires_in":600,"interval":7"#), Self.error("authorization_pending"), Self.tokens)
        #expect(pauses == [7, 7])
        #expect(session.signIns.map(\.refreshToken) == ["fixture-refresh"])
        #expect(session.signIns.first?.expiresIn == .seconds(60))
    }

    @Test func `slow_down adds five seconds to every later pause`() async throws {
        let pauses = try await signIn(
            Self.code(), Self.error("slow_down"), Self.error("authorization_pending"), Self.error("slow_down"),
            Self.tokens)
        #expect(pauses == [5, 10, 10, 15])
    }

    @Test(arguments: [[StubResponse.status(503), .status(502)], [.failure(.connectionFailed), .failure(.timedOut)]])
    func `a server that fails, or is not reached, is polled ever more slowly`(failures: [StubResponse]) async throws {
        let pauses = try await signIn(
            Self.code(), failures[0], failures[1], Self.error("authorization_pending"), Self.tokens)
        #expect(pauses == [5, 10, 20, 5])
    }

    static let responsesFromBetween: [StubResponse] = [
        .body("<html>Welcome to the hotel</html>", status: 200, type: "text/html"),
        .body("<html>No.</html>", status: 401, type: nil), .body("<html>No.</html>", status: 403, type: "text/html"),
        .body("No.", status: 404, type: "text/html"), .text(#"{"message":"Forbidden"}"#, status: 403),
        .text(#"{"message":"Unauthorized"}"#, status: 401), .status(401), .status(200), .text("{}"), .status(429),
        .status(404), .body("Gone", status: 410, type: nil), .text(#"{"message":"Gone"}"#, status: 410),
    ]

    @Test(arguments: responsesFromBetween)
    func `G4: a page or a gateway between does not end the sign-in`(_ response: StubResponse) async throws {
        let pauses = try await signIn(Self.code(), response, Self.error("authorization_pending"), Self.tokens)
        #expect(pauses == [5, 10, 5])
        #expect(session.signIns.map(\.refreshToken) == ["fixture-refresh"])
    }

    @Test func `a code in a successful response is the server's`() async throws {
        let pending = StubResponse.text(#"{"error":"authorization_pending"}"#)
        #expect(try await signIn(Self.code(), pending, Self.tokens) == [5, 5])
        let failure = await signInError { try await signIn(Self.code(), .text(#"{"error":"access_denied"}"#)) }
        #expect(failure?.code == .denied && failure?.serverCode == "access_denied")
    }

    private static func twitch(_ message: String) -> StubResponse {
        .text(#"{"status":400,"message":"\#(message)"}"#, status: 400)
    }

    @Test func `a message of Twitch is its code: pending goes on, an invalid device code ends`() async throws {
        let pending = Self.twitch("authorization_pending")
        let pauses = try await signIn(
            Self.code(), pending, pending, pending, pending, pending, pending, Self.tokens)
        #expect(pauses == Array(repeating: 5, count: 7))
        let failure = await signInError { try await signIn(Self.code(), pending, Self.twitch("invalid device code")) }
        #expect(failure?.code == .expired)
    }

    @Test func `an empty 400 is pending, and a 429 waits as it says`() async throws {
        let wait = StubResponse.status(429, headers: ["Retry-After": "60"])
        #expect(try await signIn(Self.code(), .status(400), wait, .status(400), Self.tokens) == [5, 5, 60, 5])
    }

    @Test(arguments: [(404, "expired"), (409, "expired"), (410, "expired"), (418, "denied")])
    func `a bare status of a server that says pending by one ends the sign-in`(_ status: Int, _ code: String)
        async throws
    {
        let failure = await signInError { try await signIn(Self.code(), .status(400), .status(status)) }
        #expect(failure?.code.rawValue == code)
        #expect(clock.pauses == [5, 5] && session.signIns.isEmpty)
    }

    @Test(arguments: [(409, "expired"), (410, "expired"), (418, "denied")])
    func `a bare status that no gateway sends ends the sign-in at the first poll`(_ status: Int, _ code: String)
        async throws
    {
        let failure = await signInError { try await signIn(Self.code(), .status(status)) }
        #expect(failure?.code.rawValue == code && clock.pauses == [5])
    }

    @Test(arguments: [("-1", 5.0), ("0", 5), ("0.001", 1), ("86400", 120), (#""x""#, 5)])
    func `an interval out of bounds is not used`(_ interval: String, _ pause: Double) async throws {
        #expect(try await signIn(Self.code(#""interval":\#(interval)"#), Self.tokens) == [pause])
    }

    @Test(arguments: [("access_denied", "denied"), ("expired_token", "expired"), ("invalid_grant", "refused")])
    func `a refusal ends the sign-in`(_ error: String, _ code: String) async throws {
        let failure = await signInError { try await signIn(Self.code(), Self.error(error)) }
        #expect(failure?.code.rawValue == code && failure?.serverCode == error)
        #expect(session.signIns.isEmpty)
    }

    @Test func `a user who does not decide ends the sign-in when the code expires`() async throws {
        let failure = await #expect(throws: OAuth2SignInError.self) {
            _ = try await signIn(
                Self.code(#""expires_in":12,"interval":5"#), Self.error("authorization_pending"),
                Self.error("authorization_pending"))
        }
        #expect(failure?.code == .expired)
        #expect(clock.pauses == [5, 5, 2])
    }

    @Test func `a cancelled sign-in ends at once`() async throws {
        let transport = StubTransport(.any ~> Self.code())
        let clock = ManualTimeSource()
        let signIn = OAuth2DeviceSignIn(
            server: server, client: .public(id: "fixture-client"), network: NetworkClient(transport), clock: clock)
        let task = Task { try await signIn.start(session) { _ in } }
        await clock.sleepers(atLeast: 1)
        await expectCancellation(of: task)
    }

    @Test(arguments: [
        #"{"device_code":"","user_code":"A","verification_uri":"https://id.example.com/a"}"#,
        #"{"device_code":"fixture-device","user_code":"A\u001b[31m","verification_uri":"https://id.example.com/a"}"#,
        #"{"device_code":"fixture-device","user_code":"A","verification_uri":"http://id.example.com/a"}"#,
        #"{"device_code":"fixture-device","user_code":"A","verification_uri":"javascript:alert(1)"}"#, "{}", "[]",
    ])
    func `an invalid response is refused and not shown`(_ body: String) async throws {
        let signIn = OAuth2DeviceSignIn(
            server: server, client: .public(id: "fixture-client"),
            network: NetworkClient(StubTransport(.any ~> .text(body))), clock: clock)
        let failure = await signInError { try await signIn.start(session) { _ in Issue.record("shown") } }
        #expect(failure?.code == .invalidResponse)
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
