public import Foundation
import NetworkCore

/// Where access tokens are to be used, at a server that issues a token for one place and not for all (RFC 8707).
///
/// ```swift
/// signIn.target = try OAuth2Target(resources: [api])
/// ```
///
/// A server that does not know the place refuses the call with the code `invalid_target`.
public struct OAuth2Target: Sendable, Hashable {
    /// The places by URI: `resource` (RFC 8707 §2).
    public let resources: [URL]

    /// The places by the names that the server has given them: `audience`, which some servers read.
    public let audiences: [String]

    /// The places that the server chooses.
    public static let unspecified = OAuth2Target()

    private init() { (resources, audiences) = ([], []) }

    /// Creates a target of absolute URIs without a fragment, and of names at the server of which none is empty.
    ///
    /// - Throws: ``OAuth2SignInError`` with code `unsupported` for another resource or audience.
    public init(resources: [URL] = [], audiences: [String] = []) throws(OAuth2SignInError) {
        guard resources.allSatisfy({ $0.scheme != nil && $0.fragment == nil }) else {
            throw OAuth2SignInError(
                .unsupported, reason: "a resource must be an absolute URI without a fragment (RFC 8707 §2)")
        }
        guard !audiences.contains("") else {
            throw OAuth2SignInError(.unsupported, reason: "an audience must have a name")
        }
        (self.resources, self.audiences) = (resources, audiences)
    }
}

extension QueryItems {
    /// Appends the place for which a call asks tokens, each parameter as often as it has values.
    mutating func append(_ target: OAuth2Target) {
        append("resource", target.resources.map(\.absoluteString))
        append("audience", target.audiences)
    }
}
