public import AuthInterface
public import Foundation
import NetworkCore

/// Who has signed in, and when and how: an id token that has passed every check (OpenID Connect Core §2, §3.1.3.7).
///
/// A user is known by ``issuer`` and ``subject`` together. Names and addresses can change, and belong to other users
/// later.
public struct IDToken: Sendable, Hashable {
    /// The longest id token that is read, in bytes: 64 KiB.
    static let maximumLength = 64 * 1_024

    /// The longest subject, in bytes (OpenID Connect Core §2).
    static let maximumSubjectLength = 255

    /// The server that knows the user (`iss`).
    public let issuer: String

    /// The user at that server (`sub`). It never changes, and never belongs to another user.
    public let subject: String

    /// For which clients the token is (`aud`). The own one is among them.
    public let audiences: [String]

    /// When the token expires (`exp`). It says nothing about the session, which lives as long as its refresh token.
    public let expiresAt: Date

    /// When the token was issued (`iat`).
    public let issuedAt: Date

    /// When the user has entered a password or the like (`auth_time`). `nil`: the server does not say.
    public let authenticatedAt: Date?

    /// How sure the server is of the user (`acr`). `nil`: it does not say.
    public let authenticationContext: String?

    /// By what the user has shown who they are, such as `pwd` and `otp` (`amr`, RFC 8176).
    public let authenticationMethods: [String]

    private let payload: Data

    init(_ claims: IDTokenClaims, issuer: String, expiresAt: Date, issuedAt: Date) {
        (self.issuer, subject, audiences) = (issuer, claims.subject, claims.audiences)
        (self.expiresAt, self.issuedAt) = (expiresAt, issuedAt)
        authenticatedAt = claims.authTime.map { Date(timeIntervalSince1970: $0) }
        (authenticationContext, authenticationMethods) = (claims.acr, claims.amr)
        payload = claims.payload
    }

    /// Reads other claims of the token, such as `name` and `email`.
    ///
    /// ```swift
    /// struct Profile: Decodable { let name: String? }
    /// let name = try idToken.decode(Profile.self).name
    /// ```
    ///
    /// - Throws: `DecodingError` when a claim is of another form.
    public func decode<Claims: Decodable>(_ type: Claims.Type) throws -> Claims {
        try JSONDecoder().decode(type, from: payload)
    }
}

extension IDToken: RedactedDescription {
    /// The issuer; never the user.
    public var description: String { "IDToken(\(issuer))" }
}

/// The claims of an id token that the checks need, as the token has them.
struct IDTokenClaims: Sendable {
    let issuer: String
    /// The tenant of a server of many (``OAuth2Tenants``).
    let tenant: String?
    let subject: String
    let audiences: [String]
    let authorizedParty: String?
    let expiresAt: Double?
    let issuedAt: Double?
    let notBefore: Double?
    let nonce: String?
    let accessTokenHash: String?
    let authTime: Double?
    let acr: String?
    let amr: [String]
    fileprivate(set) var payload = Data()

    /// Reads the claims of a token.
    ///
    /// - Throws: ``IDTokenError`` with code `malformed`.
    init(of text: String) throws(IDTokenError) {
        guard let payload = JSONWebSignature.payload(of: text),
            var claims = try? JSONDecoder().decode(IDTokenClaims.self, from: payload)
        else {
            throw IDTokenError(.malformed, reason: "a claim that every id token has is missing or of another form")
        }
        claims.payload = payload
        self = claims
    }
}

extension IDTokenClaims: Decodable {
    private enum CodingKeys: String, CodingKey {
        case nonce, acr, amr
        case issuer = "iss"
        case tenant = "tid"
        case subject = "sub"
        case audience = "aud"
        case authorizedParty = "azp"
        case expiresAt = "exp"
        case issuedAt = "iat"
        case notBefore = "nbf"
        case accessTokenHash = "at_hash"
        case authTime = "auth_time"
    }

    init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        issuer = try object.decode(String.self, forKey: .issuer)
        tenant = try? object.decodeIfPresent(String.self, forKey: .tenant)
        // Some servers write a number.
        subject = try object.decode(JSONValue.self, forKey: .subject).identifier ?? ""
        audiences =
            try (try? object.decode(String.self, forKey: .audience)).map { [$0] }
            ?? object.decode([String].self, forKey: .audience)
        authorizedParty = try object.decodeIfPresent(String.self, forKey: .authorizedParty)
        expiresAt = try object.decodeIfPresent(Double.self, forKey: .expiresAt)
        issuedAt = try object.decodeIfPresent(Double.self, forKey: .issuedAt)
        notBefore = try object.decodeIfPresent(Double.self, forKey: .notBefore)
        nonce = try object.decodeIfPresent(String.self, forKey: .nonce)
        accessTokenHash = try object.decodeIfPresent(String.self, forKey: .accessTokenHash)
        authTime = try? object.decodeIfPresent(Double.self, forKey: .authTime)
        acr = try? object.decodeIfPresent(String.self, forKey: .acr)
        amr = (try? object.decodeIfPresent([String].self, forKey: .amr)) ?? []
    }
}
