public import AuthInterface

extension ScriptedRefreshHandler {
    /// How a call is answered.
    public struct Response: Sendable {
        let give: @Sendable (TokenRefreshRequest, RotatingTokenServer) async throws -> TokenRefreshResult

        private init(
            _ give: @escaping @Sendable (TokenRefreshRequest, RotatingTokenServer) async throws -> TokenRefreshResult
        ) {
            self.give = give
        }

        /// As the server responses: the next pair, or *rejected* for a token that it refuses. The call carries its
        /// idempotency key, which a server that honours keys looks at.
        public static let rotate = Response { try $1.refresh($0) }

        /// The server rotates at once and its response is on the way until a gate opens.
        ///
        /// - Parameters:
        ///   - gate: The gate.
        ///   - ignoresCancellation: Whether the response arrives even after the call was cancelled. Otherwise a call that
        ///     is cancelled meanwhile loses it, and throws `CancellationError`.
        /// - Returns: The response.
        public static func rotateThenHold(at gate: Gate, ignoresCancellation: Bool = false) -> Response {
            Response { request, server in
                let result = try server.refresh(request)
                if ignoresCancellation { await gate.pass() } else { try await gate.passUnlessCancelled() }
                return result
            }
        }

        /// The server rotates and the response is lost: the call throws.
        ///
        /// - Parameter error: The error. One without a status counts as a lost response.
        /// - Returns: The response.
        public static func rotateThenFail(_ error: any Error) -> Response {
            Response { request, server in
                _ = try server.refresh(request)
                throw error
            }
        }

        /// The server rotates, and sends an access token that no request can carry beside the new refresh token.
        public static let rotateWithoutAccessToken = Response { request, server in
            var result = try server.refresh(request)
            result.accessToken = ""
            return result
        }

        /// These tokens. The server is not asked.
        ///
        /// - Parameter result: The tokens.
        /// - Returns: The response.
        public static func tokens(_ result: TokenRefreshResult) -> Response { Response { _, _ in result } }

        /// This error, of any type. The server is not asked.
        ///
        /// - Parameter error: The error.
        /// - Returns: The response.
        public static func failure(_ error: any Error) -> Response { Response { _, _ in throw error } }

        /// A refusal that may come from a gateway: a bare 401. The server is not asked.
        public static let ambiguous = failure(TokenRefreshError(.ambiguous, status: 401))

        /// No response, until the call is cancelled.
        public static let hang = Response { _, _ in
            try await Gate().passUnlessCancelled()
            throw CancellationError()
        }

        /// The response inside, once a gate is open. The wait ignores cancellation.
        ///
        /// - Parameters:
        ///   - gate: The gate.
        ///   - response: The response inside.
        /// - Returns: The response.
        public static func held(at gate: Gate, then response: Response) -> Response {
            Response { request, server in
                await gate.pass()
                return try await response.give(request, server)
            }
        }

        /// What a closure makes of the call: a handler that asks the session for a token, or one that calls twice.
        ///
        /// - Parameter response: Answers, or throws.
        /// - Returns: The response.
        public static func custom(
            _ response:
                @escaping @Sendable (TokenRefreshRequest, RotatingTokenServer) async throws -> TokenRefreshResult
        ) -> Response {
            Response(response)
        }
    }

    /// A call that was made. It tells which refresh token came, and shows neither token nor key.
    public struct Call: Sendable, Hashable {
        /// The login that the refresh token belongs to, such as `ada1`; `nil` if the server has never issued it.
        public let login: String?

        /// How many rotations lie between the login and the refresh token; `nil` as above.
        public let ordinal: Int?

        /// The idempotency key of the call, to compare with another call's.
        public let idempotencyKey: String

        /// The session that the engine named.
        public let session: SessionID

        init(_ request: TokenRefreshRequest) {
            let token = IssuedToken(request.refreshToken).flatMap { $0.kind == .refresh ? $0 : nil }
            login = token?.login
            ordinal = token?.ordinal
            idempotencyKey = request.idempotencyKey
            session = request.session
        }
    }
}

extension ScriptedRefreshHandler.Call: RedactedDescription {
    /// The login and the number of the token; never the token or the key.
    public var description: String {
        let token = login.map { "\($0), \(ordinal ?? 0)" } ?? "unknown token"
        return "Call(\(token), \(idempotencyKey.isEmpty ? "no key" : "with a key"))"
    }
}
