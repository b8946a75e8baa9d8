public import struct Foundation.URL

/// Which origins may receive tokens (G15), and which may be reached over plain http (G16).
public struct OriginPolicy: Sendable, Hashable {
    /// Whether tokens may be sent to a URL.
    public enum Decision: Sendable, Hashable {
        /// Tokens may be sent.
        case allowed

        /// The origin is another one: the request is sent without tokens.
        case foreign

        /// The URL is plain http to another machine: no request with a token may be sent.
        case cleartext
    }

    /// The origins that may receive tokens.
    public let allowed: Set<Origin>

    /// The origins that may be reached over plain http, in addition to loopback.
    public let cleartextExceptions: Set<Origin>

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - allowed: The origins that may receive tokens.
    ///   - cleartextExceptions: The origins that may be reached over plain http, in addition to loopback.
    public init(allowed: Set<Origin>, cleartextExceptions: Set<Origin> = []) {
        self.allowed = allowed
        self.cleartextExceptions = cleartextExceptions
    }

    /// Decides whether tokens may be sent to a URL.
    ///
    /// - Parameter url: The URL of a request.
    /// - Returns: The decision.
    public func decision(for url: URL) -> Decision {
        guard let origin = Origin(url), allowed.contains(origin) else { return .foreign }
        return origin.allowsRequests(cleartextExceptions: cleartextExceptions) ? .allowed : .cleartext
    }
}
