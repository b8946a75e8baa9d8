public import AuthInterface
import ConcurrencyPrimitives

/// An authorization server in memory that rotates refresh tokens and treats the second use of one as theft.
///
/// A second use revokes the whole family: every token of that login. Servers do this (RFC 9700 §4.14.2), and so a
/// client that refreshes once too often signs its user out.
///
/// The text of a token names it: `access-ada1-2` and `refresh-ada1-2` are the third pair, counted from 0, of ada's
/// first login. A login that the server does not know starts with the first refresh token that is used, so that a test
/// can start from a stored `AuthInterface.TokenBundle.fixture(_:generation:)`.
public final class RotatingTokenServer: Sendable {
    private struct State {
        var families: [String: TokenFamily] = [:]
        var logins: [String: Int] = [:]
        var refreshes = 0
        var uses: [TokenFamily.Use: Int] = [:]
    }

    private let lifetime: Duration?
    private let tolerance: ReplayTolerance
    private let state = Locked(State())

    /// Creates a server without logins.
    ///
    /// - Parameters:
    ///   - lifetime: The lifetime that the server states for its access tokens; `nil` states none.
    ///   - tolerance: Which second use of a refresh token is accepted, and returns the same pair again. It is accepted
    ///     until the new pair is used. `.within` does not measure time. With `.sameKey`, an older token with its own
    ///     key is rejected and not treated as theft.
    public init(lifetime: Duration? = nil, tolerating tolerance: ReplayTolerance = .none) {
        self.lifetime = lifetime
        self.tolerance = tolerance
    }

    /// The number of refreshes so far, successful or not.
    public var refreshes: Int { state.withLock { $0.refreshes } }

    /// The number of refreshes that issued a new pair.
    public var rotations: Int { count(.rotated) }

    /// The number of refreshes that returned the same pair again because they had the same key. A grace window is no
    /// repetition.
    public var repetitions: Int { tolerance == .sameKey ? count(.repeated) : 0 }

    /// The number of refreshes with a used token, which revoked its family.
    public var reuses: Int { count(.reuse) }

    private func count(_ use: TokenFamily.Use) -> Int { state.withLock { $0.uses[use, default: 0] } }

    /// The login of an access or refresh token, such as `ada1`; `nil` if no server of this type issued it.
    public static func login(of token: String) -> String? { IssuedToken(token)?.login }

    /// Starts a login, and returns its first pair. The name of the user has no hyphen.
    public func signIn(_ user: String = "ada") -> TokenRefreshResult {
        let login = state.withLock { state in
            state.logins[user, default: 0] += 1
            let login = "\(user)\(state.logins[user, default: 1])"
            state.families[login] = TokenFamily()
            return login
        }
        return .fixture(login, expiresIn: lifetime)
    }

    /// Exchanges a refresh token for the next pair. An empty idempotency key is none.
    ///
    /// - Throws: `TokenRefreshError` with code `rejected` for a token that is used, revoked or unknown.
    public func refresh(_ refreshToken: String, key: String? = nil) throws(TokenRefreshError) -> TokenRefreshResult {
        let token = IssuedToken(refreshToken).flatMap { $0.kind == .refresh ? $0 : nil }
        let key = key?.isEmpty == true ? nil : key
        let ordinal: Int? = state.withLock { state in
            state.refreshes += 1
            guard let token else { return nil }
            var family = state.families[token.login] ?? TokenFamily(current: token.ordinal)
            let use = family.use(token.ordinal, key: key, tolerating: tolerance)
            state.families[token.login] = family
            state.uses[use, default: 0] += 1
            return use == .rotated || use == .repeated ? family.current : nil
        }
        guard let token, let ordinal else { throw .rejected }
        return .fixture(token.login, ordinal: ordinal, expiresIn: lifetime)
    }

    /// Exchanges the refresh token of a call.
    ///
    /// - Throws: The errors of ``refresh(_:key:)``.
    public func refresh(_ request: TokenRefreshRequest) throws(TokenRefreshError) -> TokenRefreshResult {
        try refresh(request.refreshToken, key: request.idempotencyKey)
    }

    /// Whether an access token is valid. Every access token of a family is, until the family is revoked.
    public func accepts(_ accessToken: String) -> Bool {
        guard let token = IssuedToken(accessToken), token.kind == .access else { return false }
        return state.withLock { state in
            guard let family = state.families[token.login] else { return false }
            return !family.isRevoked && token.ordinal <= family.current
        }
    }

    /// Revokes the family to which a token belongs.
    public func revoke(_ token: String) {
        guard let token = IssuedToken(token) else { return }
        state.withLock { $0.families[token.login, default: TokenFamily(current: token.ordinal)].revoke() }
    }
}

/// The parts of a token of ``RotatingTokenServer``: `refresh-ada1-2` is the third refresh token, counted from 0, of
/// ada's first login.
struct IssuedToken: Sendable, Hashable {
    enum Kind: String {
        case access
        case refresh
    }

    let kind: Kind
    let login: String
    let ordinal: Int

    var text: String { "\(kind.rawValue)-\(login)-\(ordinal)" }
}

extension IssuedToken {
    /// Reads a token; `nil` if no ``RotatingTokenServer`` issued it.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let kind = Kind(rawValue: String(parts[0])), !parts[1].isEmpty,
            let ordinal = Int(parts[2]), ordinal >= 0
        else { return nil }
        self.init(kind: kind, login: String(parts[1]), ordinal: ordinal)
    }
}
