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

    private let ada = TokenSubject(issuer: "https://id.example.com", id: "ada")
    private let pages = NIOLockedValueBox<[StepUpChallenge]>([])

    /// A server that accepts only the token of a recent sign-in.
    private let transport: StubTransport = {
        let response = StubResponse { request in
            let challenge = #"Bearer error="insufficient_user_authentication", acr_values="mfa", max_age=300"#
            let isRecent = request.headers["Authorization"] == "Bearer access-recent"
            let head = HTTPResponseHead(
                status: isRecent ? 200 : 401, headers: isRecent ? [:] : ["WWW-Authenticate": challenge])
            let amount = request.url?.lastPathComponent ?? ""
            return HTTPTransportResponse(head: head, body: HTTPBody(Data(#"{"amount":\#(amount)}"#.utf8)))
        }
        return StubTransport(Stub(.any, response).repeated())
    }()

    /// The tokens of the transfers that have reached the server.
    private var transfers: [String?] { transport.requests.map { $0.headers["Authorization"] } }

    /// A session of ada. Her sign-in page issues an access token, after what a test does before.
    private func signedIn(
        issuing access: String = "access-recent", refresh: String? = "refresh-new", as user: TokenSubject? = nil,
        page: @escaping @Sendable () async throws -> Void = {}
    ) async throws -> (StepUpSender, TokenRefreshCoordinator) {
        // No refresh helps, so that a call of the handler fails the test.
        let handler = ScriptedRefreshHandler(otherwise: .failure(TokenRefreshError(.rejected)))
        let session = TokenRefreshCoordinator(store: MemoryTokenStore(), handler: handler)
        try await session.signIn(
            TokenRefreshResult(accessToken: "access-old", refreshToken: "refresh-old", subject: ada))
        let url = try #require(URL(string: "https://api.example.com"))
        let network = NetworkClient(baseURL: url, transport: transport).authenticated(by: session)
        let sender = StepUpSender(network: network) { [pages, ada] challenge in
            pages.withLockedValue { $0.append(challenge) }
            try await page()
            try await session.stepUp(
                TokenRefreshResult(accessToken: access, refreshToken: refresh, subject: user ?? ada))
        }
        return (sender, session)
    }

    private func transfer(_ amount: Int) -> Endpoint<Receipt> { .post("transfers/\(amount)").format(.json) }

    @Test func `a call that needs a recent sign-in shows the page, and is sent once more`() async throws {
        let (sender, session) = try await signedIn()
        let before = session.state
        #expect(try await sender.send(transfer(7)).amount == 7)
        let shown = pages.withLockedValue { $0 }
        #expect(shown.map(\.acrValues) == [["mfa"]] && shown.map(\.maxAge) == [.seconds(300)])
        #expect(transfers == ["Bearer access-old", "Bearer access-recent"])
        #expect(session.state == before, "the session goes on")
        #expect(try await sender.send(transfer(8)).amount == 8)
        #expect(pages.withLockedValue { $0.count } == 1, "and the sign-in is recent now")
    }

    @Test func `a server that demands it again is an error, and no second page`() async throws {
        let (sender, session) = try await signedIn(issuing: "access-other")
        let before = session.state
        let error = await #expect(throws: NetworkError.self) { try await sender.send(transfer(7)) }
        #expect(error?.code == .stepUpRequired)
        #expect(pages.withLockedValue { $0.count } == 1 && transfers.count == 2)
        #expect(session.state == before)
    }

    @Test func `a call is not sent again as another user who signs in on the page`() async throws {
        let (sender, _) = try await signedIn(as: TokenSubject(issuer: "https://id.example.com", id: "bob"))
        let error = await #expect(throws: NetworkError.self) { try await sender.send(transfer(7)) }
        #expect(error?.authentication?.code == .sessionEnded)
        #expect(transfers == ["Bearer access-old"])
    }

    @Test func `a sign-in without a refresh token fails the call, and the session goes on as it was`() async throws {
        let (sender, session) = try await signedIn(refresh: nil)
        let before = try await session.token()
        let error = await #expect(throws: AuthenticationError.self) { try await sender.send(transfer(7)) }
        #expect(error?.code == .invalidTokens && error?.description.contains("offline_access") == true)
        let after = try await session.token()
        #expect(after == before)
    }

    @Test func `a user who closes the page keeps the session, and the call fails`() async throws {
        let (sender, session) = try await signedIn(page: { throw CancellationError() })
        await #expect(throws: CancellationError.self) { try await sender.send(transfer(7)) }
        #expect(session.state != .signedOut(.byUser) && transfers.count == 1)
    }

    @Test func `calls with the same demand share one page, which a cancelled one does not wait for`() async throws {
        let (shown, show) = AsyncStream.makeStream(of: Void.self)
        let (closed, close) = AsyncStream.makeStream(of: Void.self)
        let (sender, _) = try await signedIn {
            show.yield()
            for await _ in closed {}
        }
        let calls = (1...20).map { amount in Task { try await sender.send(transfer(amount)).amount } }
        _ = await shown.first { _ in true }
        while transfers.count < 20, !Task.isCancelled { await Task.yield() }
        calls[0].cancel()
        await #expect(throws: CancellationError.self) { try await calls[0].value }
        close.finish()
        var sum = 0
        for call in calls.dropFirst() { sum += try await call.value }
        #expect(sum == 209 && pages.withLockedValue { $0.count } == 1)
    }
}
