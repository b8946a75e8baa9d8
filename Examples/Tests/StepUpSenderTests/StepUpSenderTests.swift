import AuthInterface
import AuthTesting
import Foundation
import NIOConcurrencyHelpers
import NetworkCore
import NetworkTesting
import StepUpSender
import Storage
import Testing
import TokenRefresh

@Suite(.timeLimit(.minutes(20))) struct StepUpSenderTests {
    private struct Receipt: Decodable, Sendable { let amount: Int }

    /// What the server and the sign-in page have seen.
    private struct Seen {
        var transfers: [String] = []
        var pages: [StepUpChallenge] = []
    }

    private let seen = NIOLockedValueBox(Seen())
    private let ada = TokenSubject(issuer: "https://id.example.com", id: "ada")

    /// The response of a server that accepts only the token of a recent sign-in.
    private var transfers: StubResponse {
        StubResponse { [seen] request in
            let token = request.headers["Authorization"] ?? ""
            seen.withLockedValue { $0.transfers.append(token) }
            let challenge = #"Bearer error="insufficient_user_authentication", acr_values="mfa", max_age=300"#
            let isRecent = token == "Bearer access-recent"
            let head = HTTPResponseHead(
                status: isRecent ? 200 : 401, headers: isRecent ? [:] : ["WWW-Authenticate": challenge])
            let amount = request.url?.lastPathComponent ?? ""
            return HTTPTransportResponse(head: head, body: HTTPBody(Data(#"{"amount":\#(amount)}"#.utf8)))
        }
    }

    /// Runs a session of ada. Her sign-in page issues an access token, after what a test does before.
    private func running(
        issuing access: String = "access-recent", refresh: String? = "refresh-new", as user: TokenSubject? = nil,
        page: @escaping @Sendable () async throws -> Void = {},
        _ test: (StepUpSender, TokenRefreshCoordinator) async throws -> Void
    ) async throws {
        // No refresh helps, so that a call of the handler fails the test.
        let session = TokenRefreshCoordinator(
            store: MemoryTokenStore(),
            handler: ScriptedRefreshHandler(otherwise: .failure(TokenRefreshError(.rejected))))
        try await session.signIn(
            TokenRefreshResult(accessToken: "access-old", refreshToken: "refresh-old", subject: ada))
        let url = try #require(URL(string: "https://api.example.com"))
        let network = NetworkClient(baseURL: url, transport: StubTransport(Stub(.any, transfers).repeated()))
            .authenticated(by: session)
        let sender = StepUpSender(network: network) { [seen, ada] challenge in
            seen.withLockedValue { $0.pages.append(challenge) }
            try await page()
            try await session.stepUp(
                TokenRefreshResult(accessToken: access, refreshToken: refresh, subject: user ?? ada))
        }
        try await test(sender, session)
    }

    private func transfer(_ amount: Int) -> Endpoint<Receipt> { .post("transfers/\(amount)").format(.json) }

    @Test func `a call that needs a recent sign-in shows the page, and is sent once more`() async throws {
        try await running { sender, session in
            let before = session.state
            let receipt = try await sender.send(transfer(7))
            #expect(receipt.amount == 7)
            let (pages, transfers) = seen.withLockedValue { ($0.pages, $0.transfers) }
            #expect(pages.map(\.acrValues) == [["mfa"]] && pages.map(\.maxAge) == [.seconds(300)])
            #expect(transfers == ["Bearer access-old", "Bearer access-recent"])
            #expect(session.state == before, "the session goes on")
            #expect(try await sender.send(transfer(8)).amount == 8)
            #expect(seen.withLockedValue { $0.pages.count } == 1, "and the sign-in is recent now")
        }
    }

    @Test func `a server that demands it again is an error, and no second page`() async throws {
        try await running(issuing: "access-other") { sender, session in
            let before = session.state
            let error = await #expect(throws: NetworkError.self) { try await sender.send(transfer(7)) }
            #expect(error?.code == .stepUpRequired)
            #expect(seen.withLockedValue { ($0.pages.count, $0.transfers.count) } == (1, 2))
            #expect(session.state == before)
        }
    }

    @Test func `a call is not sent again as another user who signs in on the page`() async throws {
        try await running(as: TokenSubject(issuer: "https://id.example.com", id: "bob")) { sender, _ in
            let error = await #expect(throws: NetworkError.self) { try await sender.send(transfer(7)) }
            #expect(error?.authentication?.code == .sessionEnded)
            #expect(seen.withLockedValue { $0.transfers } == ["Bearer access-old"])
        }
    }

    @Test func `a sign-in without a refresh token fails the call, and the session goes on as it was`() async throws {
        try await running(refresh: nil) { sender, session in
            let before = try await session.token()
            let error = await #expect(throws: AuthenticationError.self) { try await sender.send(transfer(7)) }
            #expect(error?.code == .invalidTokens && error?.description.contains("offline_access") == true)
            let after = try await session.token()
            #expect(after == before)
        }
    }

    @Test func `a user who closes the page keeps the session, and the call fails`() async throws {
        try await running(page: { throw CancellationError() }) { sender, session in
            await #expect(throws: CancellationError.self) { try await sender.send(transfer(7)) }
            #expect(session.state != .signedOut(.byUser) && seen.withLockedValue { $0.transfers.count } == 1)
        }
    }

    @Test func `calls with the same demand share one page, for which one that is cancelled does not wait`() async throws
    {
        let (shown, show) = AsyncStream.makeStream(of: Void.self)
        let (closed, close) = AsyncStream.makeStream(of: Void.self)
        let page: @Sendable () async throws -> Void = {
            show.yield()
            for await _ in closed {}
        }
        try await running(page: page) { sender, _ in
            let calls = (1...20).map { amount in Task { try await sender.send(transfer(amount)).amount } }
            _ = await shown.first { _ in true }
            while seen.withLockedValue({ $0.transfers.count }) < 20, !Task.isCancelled { await Task.yield() }
            calls[0].cancel()
            await #expect(throws: CancellationError.self) { try await calls[0].value }
            close.finish()
            var sum = 0
            for call in calls.dropFirst() { sum += try await call.value }
            #expect(sum == 209 && seen.withLockedValue { $0.pages.count } == 1)
        }
    }
}
