public import AuthInterface
public import NetworkCore

/// For an API that accepts a token and still demands a stronger, a more recent or a wider sign-in for some calls
/// (RFC 9470). Copy all of it.
///
/// The first call that fails so shows the sign-in page, and calls that fail with the same demand meanwhile wait for it.
/// Each is then sent once more. Where the server demands it again, its caller gets that error: no page is shown twice
/// for one call. Where another user has signed in on the page, the calls of the first one fail with `sessionEnded`.
///
/// ```swift
/// let sender = StepUpSender(network: network) { challenge in
///     try await codeSignIn.stepUp(session, for: challenge, with: userAgent)  // OAuth2CodeSignIn
/// }
/// let receipt = try await sender.send(.transfer(amount))
/// ```
public actor StepUpSender {
    /// Signs the user in again, and passes the tokens to `AuthSession.stepUp(_:)`. Without a refresh token it throws,
    /// as the sign-in has to ask for one (`offline_access`): the calls fail with that error, and nothing changes.
    public typealias StepUp = @Sendable (StepUpChallenge) async throws -> Void

    private let network: any NetworkService
    private let stepUp: StepUp
    private var pages: [StepUpChallenge: Task<Void, any Error>] = [:]
    private var latest: (challenge: StepUpChallenge, number: Int)?

    /// - Parameters:
    ///   - network: The service with the session's tokens.
    ///   - stepUp: Shows the page. Where the user closes it, it throws: the waiting calls fail, and the session stays.
    public init(network: any NetworkService, stepUp: @escaping StepUp) {
        self.network = network
        self.stepUp = stepUp
    }

    /// Sends a request, and once more after the sign-in that its response demands.
    public func send<Response: Sendable>(_ endpoint: Endpoint<Response>) async throws -> Response {
        let known = latest?.number ?? 0
        var options = RequestOptions()
        options.continuity = SessionContinuity()  // it is not sent again as another user
        do {
            return try await network.send(endpoint, options: options)
        } catch let error as NetworkError {
            guard let challenge = error.stepUp else { throw error }
            // The user may have met the demand while the response was on its way.
            let isMet = latest.map { $0.challenge == challenge && $0.number > known } ?? false
            if !isMet { try await signIn(for: challenge) }
            return try await network.send(endpoint, options: options)
        }
    }

    /// One page for all that wait for the same.
    private func signIn(for challenge: StepUpChallenge) async throws {
        let page =
            pages[challenge]
            ?? Task {
                defer { pages[challenge] = nil }
                try await stepUp(challenge)
                latest = (challenge, (latest?.number ?? 0) + 1)
            }
        pages[challenge] = page
        // A caller that is cancelled waits no longer, and the page stays for the others.
        let end = AsyncThrowingStream<Void, any Error> { continuation in
            Task {
                if case .failure(let error) = await page.result { continuation.finish(throwing: error) }
                continuation.finish()
            }
        }
        for try await _ in end {}
        try Task.checkCancellation()
    }
}
