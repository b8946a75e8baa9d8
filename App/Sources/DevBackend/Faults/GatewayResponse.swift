/// The response of a gateway or proxy in front of the server, without envelope and request identifier.
public struct GatewayResponse: Sendable, Hashable, Codable {
    /// The status.
    public var status: Int
    /// The value of `Content-Type`; nil leaves the field out.
    public var contentType: String?
    /// The body; may be empty.
    public var body: String

    /// Creates a response.
    ///
    /// - Parameters:
    ///   - status: The status, 200 or more.
    ///   - contentType: The value of `Content-Type`; nil leaves the field out.
    ///   - body: The body.
    public init(status: Int, contentType: String? = nil, body: String = "") {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    /// 403 with `{"message":"Forbidden"}`.
    public static let forbidden = GatewayResponse(
        status: 403, contentType: "application/json", body: #"{"message":"Forbidden"}"#)

    /// 403 without a body.
    public static let emptyForbidden = GatewayResponse(status: 403)

    /// 200 with a page, as a captive portal sends it.
    public static let page = GatewayResponse(
        status: 200, contentType: "text/html", body: "<html><body>Sign in to this network.</body></html>")

    /// 401 with a page.
    public static let unauthorizedPage = GatewayResponse(
        status: 401, contentType: "text/html", body: "<html><body>Unauthorized</body></html>")

    /// 502 with a page.
    public static let badGateway = GatewayResponse(
        status: 502, contentType: "text/html", body: "<html><body>Bad Gateway</body></html>")

    /// 401 without a body.
    public static let emptyUnauthorized = GatewayResponse(status: 401)

    /// 401 with `{"message":"Unauthorized"}`, which is not the envelope.
    public static let unauthorized = GatewayResponse(
        status: 401, contentType: "application/json", body: #"{"message":"Unauthorized"}"#)
}
