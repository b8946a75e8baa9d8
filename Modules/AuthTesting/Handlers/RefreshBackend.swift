public import AuthInterface

/// Your authorization server (a sandbox, or a stub of your transport) as ``TokenRefreshHandlerContract`` drives it.
///
/// ```swift
/// struct PartnerBackend: RefreshBackend {
///     let partner = PartnerStub()
///     var handler: PartnerRefresh { PartnerRefresh(partner: partner) }
///     func signIn() async throws -> TokenRefreshResult { partner.register() }
///     func answer(_ answer: RefreshBackendResponse) async throws -> Bool {
///         switch answer {
///         case .tokens: partner.status = 200
///         case .rejected: partner.respond(400, body: #"{"error":"invalid_grant"}"#)
///         case .ambiguous: partner.respond(401, body: "")
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

    /// The handler under test, talking to this backend. It is read several times.
    var handler: Handler { get }

    /// Whether a refresh brings a new refresh token. The default is `true`.
    var rotatesRefreshTokens: Bool { get }

    /// Begins a session of its own.
    ///
    /// - Returns: Its tokens. The refresh token must be there, and valid.
    /// - Throws: Anything; the rule that needs the session then counts as broken.
    func signIn() async throws -> TokenRefreshResult

    /// Makes the backend answer every refresh in this way from now on. It begins with
    /// ``RefreshBackendResponse/tokens``.
    ///
    /// - Parameter answer: The way. The set grows: return `false` for those that you do not know.
    /// - Returns: `false` if the backend cannot be made to; the rules that need it are then left out.
    /// - Throws: Anything; the rule that needs the answer then counts as broken.
    func answer(_ answer: RefreshBackendResponse) async throws -> Bool

    /// Tells sessions apart: the same text for all access tokens of one sign-in, another for every other.
    ///
    /// - Parameter accessToken: An access token the backend has issued.
    /// - Returns: The text; `nil`, the default, if the backend cannot say.
    func session(of accessToken: String) -> String?
}

/// A backend that can tell which idempotency keys came with the refresh calls. Without it, the rule on keys is left out.
public protocol KeyRecordingRefreshBackend: RefreshBackend {
    /// The idempotency keys of the refresh calls so far, in order.
    ///
    /// - Returns: The keys; `nil` for a call without one.
    /// - Throws: Anything; the rule on keys then counts as broken.
    func receivedKeys() async throws -> [String?]
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
