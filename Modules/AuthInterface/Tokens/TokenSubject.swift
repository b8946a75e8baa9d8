/// Whose tokens they are: a user, as an issuer identifies one (`iss` and `sub`, OpenID Connect Core 1.0 §2).
///
/// A session with a known subject refuses the tokens of another one (G31). So a subject must come from a source that
/// names the same user in the same way each time: the claims of an id token that was validated, or the identifier of a
/// user in the response of a server. The claims of an access token are no such source: the token is the resource
/// server's, and a server may change what it writes there for the same user (RFC 9068 §6).
///
/// It is no secret, and it is personal data: descriptions do not show the identifier.
public struct TokenSubject: Sendable, Hashable, Codable {
    /// The most bytes of each part.
    package static let maximumLength = 2_048

    /// Who names the user, such as `https://accounts.example.com`. Compared byte by byte.
    public let issuer: String

    /// The user, as the issuer names it. Compared byte by byte.
    public let id: String

    /// Creates a subject. It is `nil` when a part is empty, or has more than 2,048 bytes.
    public init?(issuer: String, id: String) {
        guard [issuer, id].allSatisfy({ !$0.isEmpty && $0.utf8.count <= Self.maximumLength }) else { return nil }
        (self.issuer, self.id) = (issuer, id)
    }

    /// Compares byte by byte: `==` of texts takes different spellings in Unicode for one.
    public static func == (first: TokenSubject, second: TokenSubject) -> Bool {
        first.issuer.utf8.elementsEqual(second.issuer.utf8) && first.id.utf8.elementsEqual(second.id.utf8)
    }
}

extension TokenSubject: RedactedDescription {
    /// The issuer; never the identifier of the user.
    public var description: String { "TokenSubject(issuer: \(issuer))" }
}
