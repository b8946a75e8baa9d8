public import AuthInterface

/// Your authorization server, a sandbox or a stub of it, as ``TokenRefreshHandlerContract`` drives it.
///
/// Write one if ``LoopbackRefreshBackend`` does not serve: your handler does not speak HTTP, or its client is stubbed.
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
    ///
    /// - Parameter accessToken: An access token that the backend has issued.
    /// - Returns: `nil`.
    public func session(of accessToken: String) -> String? { nil }
}
