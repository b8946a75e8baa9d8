public import AuthInterface

/// The header fields in which a token is sent.
public struct TokenPlacement: Sendable {
    private enum Kind {
        /// What comes before the token: the scheme and a space.
        case authorization(prefix: String)
        case fields(accessToken: String, refreshToken: String?)
        case proved(any RequestProof)
    }

    private let kind: Kind

    /// What makes the proofs of requests. `nil`: tokens are sent without one.
    var proof: (any RequestProof)? { if case .proved(let proof) = kind { proof } else { nil } }

    /// `Authorization: Bearer …` (RFC 6750 §2.1).
    public static let bearer = TokenPlacement(kind: .authorization(prefix: "Bearer "))

    /// `Authorization` with a scheme that the server defines, such as `Token`.
    public static func scheme(_ name: String) -> Self { Self(kind: .authorization(prefix: name + " ")) }

    /// `Authorization: DPoP …`, with a proof that the sender has the key to which the token is bound (RFC 9449 §7.1),
    /// made by a `DPoPProver` of `OAuth2Flows`. Each attempt and each hop of a redirect has a proof of its own. A token
    /// of no key is sent as ``bearer``.
    public static func dpop(_ proof: any RequestProof) -> TokenPlacement { TokenPlacement(kind: .proved(proof)) }

    /// Fields that the server defines; one for the refresh token too where the server needs both in every request.
    public static func fields(accessToken: String = "accessToken", refreshToken: String? = nil) -> TokenPlacement {
        TokenPlacement(kind: .fields(accessToken: accessToken, refreshToken: refreshToken))
    }

    /// Adds a token to a request.
    ///
    /// - Throws: ``HTTPFieldError`` when no header field can carry it; ``NetworkError`` with code `invalidRequest` when
    ///   it is empty; `followerHasNoRefreshToken` when a field is for the refresh token, and a follower issued the
    ///   token (G29); `proofRequired` when the token is bound to a key, and the placement makes no proof (G34).
    func place(_ token: SessionToken, in request: inout HTTPRequestHead) throws {
        guard !token.value.isEmpty else {
            throw NetworkError(
                .invalidRequest,
                reason: "the access token of the session is empty; correct what the sign-in or the refresh returns")
        }
        if case .fields(_, refreshToken: _?) = kind, token.issuance.isFollowed {
            throw NetworkError(AuthenticationError(.followerHasNoRefreshToken))
        }
        guard token.binding == nil || proof != nil else { throw NetworkError(AuthenticationError(.proofRequired)) }
        switch kind {
        case .proved:
            try request.set("Authorization", to: (token.binding == nil ? "Bearer " : "DPoP ") + token.value)
        case .authorization(let prefix):
            try request.set("Authorization", to: prefix + token.value)
        case .fields(let accessToken, let refreshToken):
            try request.set(accessToken, to: token.value)
            let value = token.refreshToken?.isEmpty == true ? nil : token.refreshToken
            if let refreshToken { try request.set(refreshToken, to: value) }
        }
    }
}
