#if canImport(CryptoKit) || Crypto
public import AuthInterface
public import ConcurrencyPrimitives
public import Foundation
public import NetworkCore

/// Checks id tokens as OpenID Connect Core §3.1.3.7 defines it, with the keys that the server publishes.
///
/// ```swift
/// let idTokens = IDTokenValidator(server: server, client: client, network: api)
/// ```
///
/// It keeps the keys. Copies share them: give the same validator to the sign-in and to the refresh handler. ES256,
/// ES384, ES512, RS256 to RS512, PS256 to PS512 and EdDSA (Ed25519) are supported, and each key only for the algorithm
/// that it names, or for those of its kind; any other, and `none`, is refused by name. On Linux it needs the package
/// trait `Crypto`.
///
/// It does not check that the scope or the time of the last authentication is as the application asked for.
public struct IDTokenValidator: Sendable {
    /// By how much the server's clock and the one that the token is checked by may differ: a minute. That is the
    /// server's own where its response has a date.
    public var clockTolerance = Duration.seconds(60)

    /// How long a refresh may wait for the keys before its call: 5 seconds.
    public var maximumKeyWait = Duration.seconds(5)

    /// Revokes the tokens beside an id token for which a sign-in fails, where the handler can revoke them alone (G9); a
    /// step-up revokes none. `nil`: they stay valid until they expire, and the error says so.
    public var revocation: (any TokenRevocationHandler)?

    /// Whether TLS stands for the signature of an id token that comes straight from the token endpoint (OpenID Connect
    /// Core §3.1.3.7, rule 6): for a server that signs by an algorithm that is not supported, such as HS256. The claims
    /// are checked as always. The default is `false`.
    public var trustsTokenEndpoint = false

    private var isVouchedFor: Bool { trustsTokenEndpoint && server.tokenEndpoint.scheme?.lowercased() == "https" }

    /// The clock.
    public var clock: any TimeSource = SystemTimeSource()

    private let server: OAuth2Server
    private let clientID: String
    private let keys: VerificationKeyCache?

    /// Creates a validator for the tokens of a client. The server needs a `jwks_uri`. Keys are kept for an hour by
    /// default: one that the server withdraws is believed until then. They are fetched again when a token names one
    /// that is not known, at most once in the pause, by default a minute.
    public init(
        server: OAuth2Server, client: OAuth2Client, network: any UnauthenticatedNetworkService,
        maximumKeyAge: Duration = .seconds(3_600), minimumPause: Duration = .seconds(60)
    ) {
        (self.server, clientID) = (server, client.id)
        let rule = KeySetState(maximumAge: maximumKeyAge, minimumPause: minimumPause)
        keys = server.jwksURI.map { VerificationKeyCache($0, network: network, rule) }
    }

    /// Checks an id token. Without a nonce, one in the token is not compared. The date is that of the response which
    /// brought the token, on the server's clock; `nil` is the own clock.
    ///
    /// - Throws: ``IDTokenError``; `CancellationError`.
    public func validate(_ text: String, nonce: String? = nil, at date: Date? = nil) async throws -> IDToken {
        try await verify(JSONWebSignature(text))
        return try token(IDTokenClaims(of: text), nonce: nonce, at: date ?? clock.date)
    }

    /// Checks that the server has signed a token.
    private func verify(_ token: JSONWebSignature) async throws {
        guard let keys else {
            throw IDTokenError(.keysUnavailable, reason: "the server has no jwks_uri: discover it, or set jwksURI")
        }
        var isKnown = false
        // A newer key may have the identifier of an older one, or the token names none.
        let isSigned = try await keys.haveKeys(on: clock) { keys in
            let candidates = keys.candidates(for: token)
            isKnown = !candidates.isEmpty
            return token.isSigned(by: candidates)
        }
        guard !isSigned else { return }
        throw isKnown
            ? IDTokenError(.invalidSignature, reason: "it is not signed by the server's key")
            : IDTokenError(.unknownKey, reason: "the server has no key of its kid for \(token.algorithm.rawValue)")
    }

    private func token(
        _ claims: IDTokenClaims, nonce: String?, beside accessToken: String? = nil, at date: Date
    ) throws(IDTokenError) -> IDToken {
        guard server.isIssuer(claims.issuer, tenant: claims.tenant ?? "") else {
            throw IDTokenError(.wrongIssuer, reason: "another server has issued it")
        }
        guard claims.audiences.contains(where: { $0.hasSameBytes(as: clientID) }) else {
            throw IDTokenError(.wrongAudience, reason: "it is for another client")
        }
        guard claims.authorizedParty.map({ $0.hasSameBytes(as: clientID) }) ?? (claims.audiences.count == 1) else {
            throw IDTokenError(.wrongAuthorizedParty, reason: "it was issued to another client (azp)")
        }
        let subject = claims.subject
        guard !subject.isEmpty, subject.utf8.count <= IDToken.maximumSubjectLength,
            !subject.unicodeScalars.contains(where: CharacterSet.controlCharacters.contains)
        else { throw IDTokenError(.malformed, reason: "its subject is empty, too long, or has control characters") }
        let now = date.timeIntervalSince1970
        let tolerance = clockTolerance / .seconds(1)
        guard let expiry = claims.expiresAt, now < expiry + tolerance else {
            throw IDTokenError(.expired, reason: "it has expired, or has no exp")
        }
        guard let issue = claims.issuedAt, max(issue, claims.notBefore ?? issue) <= now + tolerance else {
            throw IDTokenError(.issuedInFuture, reason: "its iat or nbf is in the future, or it has no iat")
        }
        guard accessToken.map(claims.isBeside) ?? true else {
            throw IDTokenError(.wrongAccessToken, reason: "it was issued beside another access token (at_hash)")
        }
        if let nonce, claims.nonce?.hasSameBytes(as: nonce) != true {
            throw IDTokenError(.wrongNonce, reason: "it belongs to another sign-in")
        }
        return IDToken(
            claims, issuer: server.issuer(named: claims.issuer), expiresAt: Date(timeIntervalSince1970: expiry),
            issuedAt: Date(timeIntervalSince1970: issue))
    }
}

extension IDTokenValidator {
    /// The id token of a sign-in whose scope has `openid`; `nil` where it has not.
    ///
    /// - Throws: ``OAuth2SignInError`` with code `invalidIDToken` or `unavailable`; `CancellationError`.
    func idToken(of issued: OAuth2TokenResponse, scope: String?, nonce: String?) async throws -> IDToken? {
        guard scope.asksForIDToken else { return nil }
        do {
            guard let text = issued.idToken else {
                throw IDTokenError(.missing, reason: "the server has issued none, although openid is in the scope")
            }
            if !isVouchedFor { try await verify(JSONWebSignature(text)) }
            return try token(
                IDTokenClaims(of: text), nonce: nonce, beside: issued.bundle.accessToken,
                at: issued.serverDate ?? clock.date)
        } catch let error as IDTokenError {
            throw OAuth2SignInError(error, tokens: await revoke(issued.bundle))
        }
    }

    /// Revokes the tokens beside an id token that was refused. Returns what has become of them.
    private func revoke(_ tokens: TokenBundle) async -> String {
        // G9: the user's other sessions stay.
        guard let revocation, revocation.affectsRevokedSessionOnly else { return "stay valid" }
        return (try? await revocation.revoke(tokens)) == nil ? "could not be revoked" : "are revoked"
    }

    /// Whether a refresh is to fetch keys before it spends its token.
    var needsKeys: Bool { !isVouchedFor && keys?.needsFetch(on: clock) ?? false }

    /// Fetches the keys, for ``maximumKeyWait`` at most. Without them id tokens cannot be checked, and refreshes go on.
    func fetchKeys() async {
        _ = try? await clock.withDeadline(clock.uptime + maximumKeyWait) { try await keys?.fetch(on: clock) }
    }

    /// Whose tokens came with a refresh (OpenID Connect Core §12.2), checked with the keys that are here: nothing is
    /// waited for, as the tokens are not stored yet.
    func subject(ofRefreshed text: String, at date: Date?) throws(IDTokenError) -> TokenSubject? {
        if !isVouchedFor { try verifyByKnownKeys(JSONWebSignature(text)) }
        let token = try token(IDTokenClaims(of: text), nonce: nil, at: date ?? clock.date)
        return TokenSubject(issuer: token.issuer, id: token.subject)
    }

    private func verifyByKnownKeys(_ token: JSONWebSignature) throws(IDTokenError) {
        guard let known = keys?.known else {
            throw IDTokenError(.keysUnavailable, reason: "the keys of the server are not here")
        }
        guard token.isSigned(by: known.candidates(for: token)) else {
            keys?.wantNewer()
            throw IDTokenError(.invalidSignature, reason: "it is not signed by a key of the server that is here")
        }
    }

    /// Whom an id token names that was not checked, or has failed its check. `nil`: it is encrypted, or cannot be read.
    func claimedSubject(of text: String) -> TokenSubject? {
        struct Claims: Decodable { let iss: String, sub: JSONValue }
        guard let payload = JSONWebSignature.payload(of: text),
            let claims = try? JSONDecoder().decode(Claims.self, from: payload), let subject = claims.sub.identifier
        else { return nil }
        return TokenSubject(issuer: server.issuer(named: claims.iss), id: subject)
    }
}

extension String? {
    /// Whether a scope asks for an id token (OpenID Connect Core §3.1.2.1).
    var asksForIDToken: Bool { self?.split(separator: " ").contains("openid") ?? false }
}
#endif
