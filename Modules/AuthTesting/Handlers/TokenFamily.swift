package import AuthInterface

/// The refresh tokens of one login, as a server that rotates them sees them: consecutive numbers, of which one is
/// valid.
package struct TokenFamily: Sendable, Hashable {
    /// What becomes of the use of a refresh token.
    package enum Use: Sendable, Hashable {
        /// A new pair is issued.
        case rotated
        /// The same pair is returned again.
        case repeated
        /// It is rejected without a revocation: an older token with its own key.
        case lateRepetition
        /// It is rejected, and revokes the family: the second use of a token counts as theft (RFC 9700 §4.14.2).
        case reuse
        /// It is rejected: the family was revoked before.
        case revoked
    }

    /// The number of the valid refresh token.
    package private(set) var current: Int

    /// Whether every token of the login is invalid.
    package private(set) var isRevoked = false

    /// The idempotency key with which each refresh token was used, by its number. Empty unless the server honours keys.
    private var keys: [Int: String] = [:]

    /// Creates the tokens of a login.
    package init(current: Int = 0) { self.current = current }

    /// Processes a refresh. An accepted one ends with ``current`` as the number of the pair.
    package mutating func use(_ number: Int, key: String?, tolerating tolerance: ReplayTolerance) -> Use {
        if isRevoked { return .revoked }
        if number == current {
            if tolerance == .sameKey { keys[number] = key }
            current += 1
            return .rotated
        }
        let isPredecessor = number == current - 1
        switch tolerance {
        case .sameKey where key != nil && keys[number] == key: return isPredecessor ? .repeated : .lateRepetition
        case .within where isPredecessor: return .repeated
        case .none, .sameKey, .within:
            isRevoked = true
            return .reuse
        }
    }

    /// Makes every token of the login invalid.
    package mutating func revoke() { isRevoked = true }
}
