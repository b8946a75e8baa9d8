public import AuthInterface
import ConcurrencyPrimitives

/// An authorization server in memory that rotates refresh tokens, and takes one that is used twice for a theft.
///
/// A spent refresh token revokes its whole family: every token of that login. This is what servers do (RFC 9700
/// §4.14.2) and what makes a client that refreshes once too often sign its user out.
///
/// Tokens say what they are: `access-ada1-2` and `refresh-ada1-2` are the third pair, counted from 0, of ada's first
/// login. A login that the server does not know begins with the first refresh token of it that is used, so that a test
/// may start from a stored ``AuthInterface/TokenBundle/fixture(_:generation:isRefreshable:expiresAt:)``.
public final class RotatingTokenServer: Sendable {
    private struct Family {
        var ordinal: Int
        var isRevoked = false
        /// The key that each spent refresh token was spent with.
        var keys: [Int: String] = [:]
    }

    private struct State {
        var families: [String: Family] = [:]
        var logins: [String: Int] = [:]
        var requests = 0
        var rotations = 0
        var repetitions = 0
        var lateRepetitions = 0
        var reuses = 0
    }

    private let lifetime: Duration?
    private let hasGraceWindow: Bool
    private let honoursKeys: Bool
    private let state = Locked(State())

    /// Creates a server without any login.
    ///
    /// - Parameters:
    ///   - lifetime: How long it says that its access tokens are valid. `nil`: it does not say.
    ///   - hasGraceWindow: Whether the refresh token spent last may be used again, and brings the same pair again,
    ///     until the new one is used.
    ///   - honoursKeys: Whether the refresh token spent last brings the same pair again when it comes with the key that
    ///     it was spent with. An older token with its own key is refused without being taken for a theft.
    public init(lifetime: Duration? = nil, hasGraceWindow: Bool = false, honoursKeys: Bool = false) {
        self.lifetime = lifetime
        self.hasGraceWindow = hasGraceWindow
        self.honoursKeys = honoursKeys
    }

    /// How many refreshes were requested.
    public var requests: Int { state.withLock { $0.requests } }

    /// How many of them brought a new pair.
    public var rotations: Int { state.withLock { $0.rotations } }

    /// How many of them brought the same pair again, because they came with the same key.
    public var repetitions: Int { state.withLock { $0.repetitions } }

    /// How many of them came with their own key after the next refresh, and were refused without a revocation.
    public var lateRepetitions: Int { state.withLock { $0.lateRepetitions } }

    /// How many of them came with a spent token, and revoked its family.
    public var reuses: Int { state.withLock { $0.reuses } }

    /// Begins a family.
    ///
    /// - Parameter user: The user. A name without a hyphen.
    /// - Returns: Its first pair.
    public func signIn(_ user: String = "ada") -> TokenRefreshResult {
        let login = state.withLock { state in
            state.logins[user, default: 0] += 1
            let login = "\(user)\(state.logins[user, default: 1])"
            state.families[login] = Family(ordinal: 0)
            return login
        }
        return .fixture(login, expiresIn: lifetime)
    }

    /// Exchanges a refresh token for the next pair.
    ///
    /// - Parameters:
    ///   - refreshToken: The token.
    ///   - key: The idempotency key of the call. `nil` and an empty one are none.
    /// - Returns: The next pair.
    /// - Throws: ``AuthInterface/TokenRefreshError`` with code `rejected` for a token that is spent, revoked or not one
    ///   of the server's.
    public func refresh(_ refreshToken: String, key: String? = nil) throws(TokenRefreshError) -> TokenRefreshResult {
        let token = IssuedToken(refreshToken)
        let key = key?.isEmpty == true ? nil : key
        let ordinal = state.withLock { state in
            state.requests += 1
            return token.flatMap { next(after: $0, key: key, in: &state) }
        }
        guard let token, let ordinal else { throw .rejected }
        return .fixture(token.login, ordinal: ordinal, expiresIn: lifetime)
    }

    /// Whether an access token is valid: any of a family that is not revoked, however many refreshes ago.
    ///
    /// - Parameter accessToken: The token.
    /// - Returns: Whether a request with it would be accepted.
    public func accepts(_ accessToken: String) -> Bool {
        guard let token = IssuedToken(accessToken), token.kind == .access else { return false }
        return state.withLock { state in
            guard let family = state.families[token.login] else { return false }
            return !family.isRevoked && token.ordinal <= family.ordinal
        }
    }

    /// Ends the family of a token.
    ///
    /// - Parameter token: Any token of it.
    public func revoke(_ token: String) {
        guard let token = IssuedToken(token) else { return }
        state.withLock { $0.families[token.login, default: Family(ordinal: token.ordinal)].isRevoked = true }
    }

    private func next(after token: IssuedToken, key: String?, in state: inout State) -> Int? {
        guard token.kind == .refresh else { return nil }
        var family = state.families[token.login] ?? Family(ordinal: token.ordinal)
        defer { state.families[token.login] = family }
        if family.isRevoked { return nil }
        if token.ordinal == family.ordinal {
            family.keys[token.ordinal] = key
            family.ordinal += 1
            state.rotations += 1
            return family.ordinal
        }
        let isPredecessor = token.ordinal == family.ordinal - 1
        if honoursKeys, let key, family.keys[token.ordinal] == key {
            guard isPredecessor else {
                state.lateRepetitions += 1
                return nil
            }
            state.repetitions += 1
            return family.ordinal
        }
        if hasGraceWindow, isPredecessor { return family.ordinal }
        state.reuses += 1
        family.isRevoked = true
        return nil
    }
}
