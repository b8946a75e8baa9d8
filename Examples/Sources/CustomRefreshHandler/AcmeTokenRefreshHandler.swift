public import AuthInterface
public import NetworkCore

/// For a server whose refresh call is like no other. Copy all of it, and change the call, the response and the refusal.
///
/// | Acme | |
/// |---|---|
/// | call | `POST keys/renew {"renewal": {"key": …}}` with `X-Request-Key` |
/// | new tokens | `200 {"keys": {"door": …, "renewal": …, "minutes": 15}}` |
/// | the refresh token is refused | `409 {"fault": {"reason": "RENEWAL_SPENT"}}` |
///
/// `TokenRefreshHandlerContract` in the test runs its rules against the handler as it is.
public struct AcmeTokenRefreshHandler: TokenRefreshHandler {
    private let network: any UnauthenticatedNetworkService  // adds no tokens, so a refresh cannot wait for itself

    /// Acme sends its first response again when it sees a key again. Declare only what your server does.
    public let replayTolerance = ReplayTolerance.sameKey

    /// - Parameter network: A client for the server that issues the tokens.
    public init(network: any UnauthenticatedNetworkService) { self.network = network }

    /// Makes the call once.
    public func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
        let call = Endpoint<Renewed>.post("keys/renew", json: ["renewal": ["key": request.refreshToken]])
            .allowingLateResponse(to: request)  // a late response has the only valid token: wait 120 seconds for it
            .idempotencyKey(request.idempotencyKey, in: "X-Request-Key")
        do {
            return try await network.send(call).keys.result
        } catch let error as NetworkError {
            // Servers quote what they were sent.
            throw failure(error.withoutQuoting([request.refreshToken, request.accessToken, request.idempotencyKey]))
        }
    }

    /// Only a code of Acme's own ends the session. A bare 401 may come from a gateway, and everything else may pass.
    private func failure(_ error: NetworkError) -> TokenRefreshError {
        let reason = try? error.decode(Fault.self).fault.reason
        if error.status == 409, reason == "RENEWAL_SPENT" {
            return TokenRefreshError(.rejected, error, serverCode: reason)
        }
        let isPage = error.body?.first == UInt8(ascii: "<")
        return TokenRefreshError(error.status == 401 && !isPage ? .ambiguous : .unavailable, error)
    }
}

private struct Renewed: Decodable {
    let keys: Keys

    struct Keys: Decodable {
        let result: TokenRefreshResult

        private enum Name: String, CodingKey { case door, renewal, minutes }

        /// A new refresh token is kept even if what is beside it is missing or invalid: Acme has spent the old one.
        init(from decoder: any Decoder) throws {
            let object = try decoder.container(keyedBy: Name.self)
            let renewal = try? object.decodeIfPresent(String.self, forKey: .renewal)
            let door = (try? object.decodeIfPresent(String.self, forKey: .door)) ?? ""
            guard !door.isEmpty || renewal != nil else {
                throw DecodingError.valueNotFound(
                    String.self, .init(codingPath: object.codingPath, debugDescription: "no access token"))
            }
            // A server's number: as large as it likes, and with a fraction.
            let minutes = (try? object.decodeIfPresent(Double.self, forKey: .minutes))
                .flatMap { (0...525_600).contains($0) ? $0 : nil }
            result = TokenRefreshResult(
                accessToken: door, refreshToken: renewal, expiresIn: minutes.map { .seconds(60 * $0) })
        }
    }
}

private struct Fault: Decodable {
    let fault: Detail

    struct Detail: Decodable { let reason: String }
}
