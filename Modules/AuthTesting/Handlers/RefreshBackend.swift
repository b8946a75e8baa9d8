public import AuthInterface

/// Your authorisation server (a sandbox, or a stub of your transport) as ``TokenRefreshHandlerContract`` drives it.
///
/// ```swift
/// struct PartnerBackend: RefreshBackend {
///     let partner = PartnerStub()
///     var handler: PartnerRefresh { PartnerRefresh(partner: partner) }
///     func signIn() async throws -> TokenRefreshResult { partner.register() }
///     func answer(_ answer: RefreshBackendAnswer) async throws -> Bool {
///         switch answer {
///         case .tokens: partner.status = 200
///         case .rejected: partner.respond(400, body: #"{"error":"invalid_grant"}"#)
///         case .unavailable: partner.status = 503
///         default: return false
///         }
///         return true
///     }
/// }
/// ```
public protocol RefreshBackend: Sendable {
    /// The handler under test.
    associatedtype Handler: TokenRefreshHandler

    /// The handler under test, talking to this backend. It may be asked for more than once.
    var handler: Handler { get }

    /// Whether a refresh brings a new refresh token. The default is `true`.
    var rotatesRefreshTokens: Bool { get }

    /// Begins a session that nobody else uses.
    ///
    /// - Returns: Its tokens. The refresh token must be there, and good.
    /// - Throws: Anything; the rule that needs the session then counts as broken.
    func signIn() async throws -> TokenRefreshResult

    /// Makes the backend answer every refresh in this way from now on. It begins with
    /// ``RefreshBackendAnswer/tokens``.
    ///
    /// - Parameter answer: The way.
    /// - Returns: `false` if the backend cannot be made to; the rules that need it are then left out.
    /// - Throws: Anything; the rule that needs the answer then counts as broken.
    func answer(_ answer: RefreshBackendAnswer) async throws -> Bool

    /// Tells sessions apart: the same text for all access tokens of one sign-in, another for every other.
    ///
    /// - Parameter accessToken: An access token the backend has issued.
    /// - Returns: The text; `nil`, the default, if the backend cannot say.
    func session(of accessToken: String) -> String?
}

extension RefreshBackend {
    /// Most servers rotate (RFC 9700 §2.2.2).
    public var rotatesRefreshTokens: Bool { true }

    /// The backend cannot say.
    ///
    /// - Parameter accessToken: An access token the backend has issued.
    /// - Returns: `nil`.
    public func session(of accessToken: String) -> String? { nil }
}

/// A way in which an authorisation server answers a refresh.
public enum RefreshBackendAnswer: Sendable, Hashable, CaseIterable {
    /// New tokens for a good refresh token.
    case tokens

    /// A final no to the refresh token itself: `invalid_grant` (RFC 6749 §5.2), or whatever your server says.
    case rejected

    /// A server in trouble: 503, or its like.
    case unavailable

    /// Too many requests: 429 with `Retry-After: 7`, or its like.
    case tooManyRequests

    /// A cut connection, or nobody at the other end.
    case unreachable

    /// Success, with something in it that is no answer to a refresh. Put the refresh token into it if you can.
    case garbage

    /// Success, with an empty access token.
    case emptyAccessToken

    /// Nothing at all, until the caller gives up.
    case nothing
}
