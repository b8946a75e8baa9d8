public import AuthInterface
public import Foundation

/// The head of a request: everything before its body.
///
/// Interceptors change it and transports send it. Bodies belong to endpoints.
public struct HTTPRequestHead: Sendable, Hashable {
    /// The fields that frame a message or manage a connection, in lower case (RFC 9110 §7.6.1, RFC 9112 §6). The
    /// transport writes them: a wrong length would cut a body short or make two requests of one.
    static let framingFields: Set = [
        "connection", "content-length", "expect", "host", "http2-settings", "keep-alive", "proxy-connection", "te",
        "trailer", "transfer-encoding", "upgrade",
    ]

    /// The request method.
    public var method: HTTPMethod

    /// The URL, with scheme `https` or `http`.
    public var url: URL

    /// The header fields, without those that frame the message.
    public var headers: HTTPHeaders

    /// What the path of the endpoint marks as secrets.
    var secrets = HiddenSecrets()

    /// Creates a head.
    public init(method: HTTPMethod = .get, url: URL, headers: HTTPHeaders = [:]) {
        self.method = method
        self.url = url
        self.headers = headers
    }

    /// Replaces all fields of a name with one; `nil` removes them.
    ///
    /// - Throws: ``HTTPFieldError`` when the name or the value is invalid, or when the field belongs to the transport.
    public mutating func set(_ name: String, to value: String?) throws(HTTPFieldError) {
        if value != nil, Self.isFraming(name) { throw HTTPFieldError(code: .framing, field: name) }
        try headers.set(name, to: value)
    }

    /// The head with a field in place of all of that name; `nil` removes them.
    ///
    /// - Throws: ``HTTPFieldError`` when the name or the value is invalid, or when the field belongs to the transport.
    public func setting(_ name: String, to value: String?) throws(HTTPFieldError) -> HTTPRequestHead {
        var copy = self
        try copy.set(name, to: value)
        return copy
    }

    /// Refuses what cannot be sent, or would not be sent as it looks. Returns where it is sent.
    ///
    /// - Throws: ``NetworkError`` with code `invalidRequest`; it names the field, never its value.
    func validate() throws -> Origin {
        let plain = Origin(plain: url.absoluteString)
        guard let origin = plain ?? Origin(url) else { throw NetworkError(.invalidRequest, reason: Origin.problem) }
        guard plain != nil || (url.user == nil && url.password == nil) else {
            throw NetworkError(.invalidRequest, reason: "the URL holds user information")
        }
        guard method.rawValue.isFieldName else {
            throw NetworkError(.invalidRequest, reason: "the method is not a token")
        }
        do { try Self.validateTrailers(headers) } catch { throw try NetworkError(describing: error) }
        return origin
    }

    /// Refuses fields that are no trailers: invalid ones, and those that frame a message or lead it (RFC 9110 §6.5.1).
    ///
    /// - Throws: ``HTTPFieldError``.
    package static func validateTrailers(_ fields: HTTPHeaders) throws(HTTPFieldError) {
        if let problem = fields.problem { throw problem }
        if let name = fields.names.first(where: isFraming) { throw HTTPFieldError(code: .framing, field: name) }
    }

    private static func isFraming(_ name: String) -> Bool { framingFields.contains(name.lowercased()) }
}

extension HTTPRequestHead: RedactedDescription {
    /// The method and the redacted URL, without the secrets of the path; never a header value (G17).
    public var description: String { RequestSummary(self, Redaction(secrets: secrets.values)).description }
}
