public import AuthInterface

/// Your authorization server, a sandbox or a stub of it, as ``TokenRefreshHandlerContract`` drives it.
///
/// Write one if the server of ``TokenRefreshHandlerContract/check(_:timeLimit:makeHandler:)`` does not serve: your
/// handler does not speak HTTP, or its client is stubbed.
///
/// ```swift
/// struct PartnerBackend: RefreshBackend {
///     let partner = PartnerStub()
///     var handler: PartnerRefresh { PartnerRefresh(partner: partner) }
///     func signIn() async throws -> TokenRefreshResult { partner.register() }
///     func respond(with response: RefreshBackendResponse) async throws -> Bool {
///         switch response {
///         case .tokens: partner.status = 200
///         case .rejected: partner.fail(400, body: #"{"error":"invalid_grant"}"#)
///         case .ambiguous: partner.fail(401, body: "")
///         case .unavailable: partner.status = 503
///         case .lostResponse: partner.cutsConnectionAfterWork = true
///         default: return false
///         }
///         return true
///     }
/// }
/// ```
public protocol RefreshBackend: Sendable {
    /// The handler under test.
    associatedtype Handler: TokenRefreshHandler

    /// The handler under test, connected to this backend. It is read several times.
    var handler: Handler { get }

    /// Whether a refresh returns a new refresh token. The default is `true`.
    var rotatesRefreshTokens: Bool { get }

    /// Starts a session.
    ///
    /// - Returns: Its tokens, with a valid refresh token.
    /// - Throws: Any error; the rule that needs the session is then broken.
    func signIn() async throws -> TokenRefreshResult

    /// Sets the response to every refresh from now on. The first one is ``RefreshBackendResponse/tokens``.
    ///
    /// - Parameter response: The response. The set grows: return `false` for those that you do not know.
    /// - Returns: `false` if the backend cannot respond so; the rules that need it are then left out.
    /// - Throws: Any error; the rule that needs the response is then broken.
    func respond(with response: RefreshBackendResponse) async throws -> Bool

    /// Tells sessions apart: returns the same text for all access tokens of one sign-in, and another text for each
    /// other sign-in.
    ///
    /// - Parameter accessToken: An access token that the backend has issued.
    /// - Returns: The text; `nil`, the default, if the backend cannot tell.
    func session(of accessToken: String) -> String?
}

extension RefreshBackend {
    /// Most servers rotate (RFC 9700 §2.2.2).
    public var rotatesRefreshTokens: Bool { true }

    /// The backend cannot tell.
    public func session(of accessToken: String) -> String? { nil }
}

/// A response of an authorization server, or of a gateway in front of it, to a refresh.
///
/// The set grows. A ``RefreshBackend`` returns `false` for a response that it does not know.
public struct RefreshBackendResponse: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
    /// The response as text.
    public let rawValue: String

    /// Creates a response.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The response as text.
    public var description: String { rawValue }
}

/// The server responds.
extension RefreshBackendResponse {
    /// New tokens for a valid refresh token.
    public static let tokens = Self(rawValue: "tokens")

    /// A rejection of the refresh token: `invalid_grant` (RFC 6749 §5.2), or the code of your server.
    public static let rejected = Self(rawValue: "rejected")

    /// An overloaded or failing server: 503, or another 5xx.
    public static let unavailable = Self(rawValue: "unavailable")

    /// Too many requests: 429 with `Retry-After: 7`.
    public static let tooManyRequests = Self(rawValue: "tooManyRequests")

    /// Success, with a body that is not a response to a refresh. Put the refresh token and the idempotency key into it
    /// if you can.
    public static let garbage = Self(rawValue: "garbage")

    /// Success, with an empty access token and no new refresh token.
    public static let emptyAccessToken = Self(rawValue: "emptyAccessToken")

    /// Success: the refresh token is exchanged, and the response has an empty access token and the new refresh token.
    public static let emptyAccessTokenAndNewRefreshToken = Self(rawValue: "emptyAccessTokenAndNewRefreshToken")
}

/// A proxy or gateway in front of the server responds.
extension RefreshBackendResponse {
    /// A refusal without a reason: 401 with an empty body, or with `{"message":"Unauthorized"}`.
    public static let ambiguous = Self(rawValue: "ambiguous")

    /// 403 with `{"message":"Forbidden"}`.
    public static let forbidden = Self(rawValue: "forbidden")

    /// 403 with an empty body.
    public static let emptyForbidden = Self(rawValue: "emptyForbidden")

    /// A page of HTML with a status: 200, as the sign-in page of a hotel's network, 401, 403 or 502.
    public static func page(_ status: Int) -> Self { Self(rawValue: "page \(status)") }

    /// The status of a page of HTML; `nil` for other responses.
    package var statusOfPage: Int? { Self.statusesOfPages.first { self == .page($0) } }

    static let allPages = statusesOfPages.map(page)

    private static let statusesOfPages = [200, 401, 403, 502]
}

/// The server, or a network's sign-in page, redirects: ``redirect(_:leavingOrigin:)``. No handler follows it, because
/// the place that it leads to issues tokens of another user.
extension RefreshBackendResponse {
    private static let redirects = [301, 302, 303, 307, 308].flatMap { status in
        [false, true].map { (status: status, leavesOrigin: $0) }
    }

    /// A redirect (301, 302, 303, 307 or 308) to a URL that issues tokens of a session of its own, to any method.
    public static func redirect(_ status: Int, leavingOrigin leavesOrigin: Bool) -> Self {
        Self(rawValue: "redirect \(status) \(leavesOrigin ? "to another origin" : "within the origin")")
    }

    /// The status of a redirect, and whether it leaves the origin; `nil` for other responses.
    public var redirect: (status: Int, leavesOrigin: Bool)? {
        Self.redirects.first { self == .redirect($0.status, leavingOrigin: $0.leavesOrigin) }
    }

    static let allRedirects = redirects.map { redirect($0.status, leavingOrigin: $0.leavesOrigin) }
}

/// No response arrives.
extension RefreshBackendResponse {
    /// The connection is cut, or refused. The refresh token is not exchanged.
    public static let unreachable = Self(rawValue: "unreachable")

    /// The server exchanges the refresh token, and the connection is cut before the response arrives.
    public static let lostResponse = Self(rawValue: "lostResponse")

    /// Nothing, until the client closes the connection.
    public static let nothing = Self(rawValue: "nothing")

    /// The responses of which a handler makes an error.
    static let failures: [Self] =
        [
            .rejected, .ambiguous, .unavailable, .tooManyRequests, .garbage, .emptyAccessToken, .forbidden,
            .emptyForbidden, .unreachable, .lostResponse,
        ] + allPages + allRedirects
}

/// A backend that records the idempotency keys of the refresh calls. Without it, the rules on keys are left out.
public protocol KeyRecordingRefreshBackend: RefreshBackend {
    /// The idempotency keys of the refresh calls so far, in order.
    ///
    /// - Returns: The keys; `nil` for a call without one.
    /// - Throws: Any error; the rule on keys is then broken.
    func receivedKeys() async throws -> [String?]
}
