public import struct Foundation.URL

/// Who may see tokens (G15), and who may be spoken to in clear (G16).
public struct OriginPolicy: Sendable, Hashable {
    /// What a policy says of an address.
    public enum Decision: Sendable, Hashable {
        /// Tokens may go there.
        case allowed

        /// Somebody else's: the request goes there without tokens.
        case foreign

        /// Plain http to another machine: nothing that holds a token may go there.
        case cleartext
    }

    /// The origins that may see tokens.
    public let allowed: Set<Origin>

    /// The origins that may be spoken to over plain http. Loopback always may.
    public let cleartextExceptions: Set<Origin>

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - allowed: The origins that may see tokens.
    ///   - cleartextExceptions: The origins that may be spoken to over plain http.
    public init(allowed: Set<Origin>, cleartextExceptions: Set<Origin> = []) {
        self.allowed = allowed
        self.cleartextExceptions = cleartextExceptions
    }

    /// Judges an address.
    ///
    /// - Parameter url: The address a request goes to.
    /// - Returns: Whether tokens may go there.
    public func decision(for url: URL) -> Decision {
        guard let origin = Origin(url), allowed.contains(origin) else { return .foreign }
        return origin.mayBeSpokenTo(exceptions: cleartextExceptions) ? .allowed : .cleartext
    }
}

extension Origin {
    /// Whether a request may go there at all: encrypted, to this machine, or by a named exception.
    func mayBeSpokenTo(exceptions: Set<Origin>) -> Bool {
        !isCleartext || isLoopback || exceptions.contains(self)
    }
}
