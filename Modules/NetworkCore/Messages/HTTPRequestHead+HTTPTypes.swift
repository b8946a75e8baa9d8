#if HTTPTypes
public import Foundation
public import HTTPTypes

// Conversions from and to the types of swift-http-types, which is what other libraries speak. `HTTPField` and
// `HTTPResponse` are names of both modules: write `NetworkCore.HTTPField` where a file imports both.
//
// The other types print values of fields. What was converted to them is not redacted any more.

extension HTTPRequestHead {
    /// Takes method, URL and header fields of a request.
    ///
    /// Fields that frame a message or manage a connection are left out, such as `Content-Length` (RFC 9110 §7.6.1).
    ///
    /// - Throws: ``NetworkError`` with code `invalidRequest` when the request has no scheme, authority or absolute
    ///   path, as a `CONNECT`; when its URL is not http or https; or when a field cannot be sent.
    public init(_ request: HTTPRequest) throws {
        guard let scheme = request.scheme, let authority = request.authority, let path = request.path,
            path.hasPrefix("/"), !authority.contains(where: "/?#@\\".contains),
            let url = URL(string: "\(scheme)://\(authority)\(path)")
        else { throw NetworkError(.invalidRequest, reason: "the request has no URL of a scheme, authority and path") }
        var headers = HTTPHeaders(request.headerFields)
        for name in Self.framingFields { headers.remove(name) }
        self.init(method: HTTPMethod(rawValue: request.method.rawValue), url: url, headers: headers)
        _ = try validate()
    }
}

extension HTTPRequest {
    /// Creates a request with method, URL and header fields of a head.
    ///
    /// - Throws: `NetworkError` with code `invalidRequest` when the head cannot be sent.
    public init(_ head: HTTPRequestHead) throws {
        _ = try head.validate()
        guard let method = Method(head.method.rawValue),
            let parts = URLComponents(url: head.url, resolvingAgainstBaseURL: true), let host = parts.percentEncodedHost
        else { throw NetworkError(.invalidRequest, reason: "the URL has no host") }
        let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        self.init(
            method: method, scheme: parts.scheme?.lowercased(),
            authority: parts.port.map { "\(host):\($0)" } ?? host,
            path: parts.percentEncodedQuery.map { "\(path)?\($0)" } ?? path,
            headerFields: HTTPFields(head.headers))
    }
}

extension HTTPResponseHead {
    /// Takes status and header fields of a response, without its reason phrase. The URL is that after redirects.
    public init(_ response: HTTPTypes.HTTPResponse, url: URL? = nil) {
        self.init(status: response.status.code, headers: HTTPHeaders(response.headerFields), url: url)
    }
}

extension HTTPTypes.HTTPResponse {
    /// Creates a response with status and header fields of a head.
    ///
    /// - Throws: `NetworkError` with code `invalidResponse` when the status has not one to three digits.
    public init(_ head: HTTPResponseHead) throws {
        guard (0...999).contains(head.status) else {
            throw NetworkError(.invalidResponse, reason: "the status \(head.status) is none of HTTP")
        }
        self.init(status: Status(code: head.status), headerFields: HTTPFields(head.headers))
    }
}

extension HTTPHeaders {
    /// Takes fields in order. One whose value has a control character is left out.
    public init(_ fields: HTTPFields) { self.init(fields.map { ($0.name.rawName, $0.value) }) }
}

extension HTTPFields {
    /// Creates fields in order.
    public init(_ headers: HTTPHeaders) {
        self.init()
        for field in headers {
            guard let name = HTTPTypes.HTTPField.Name(field.name) else { continue }
            append(HTTPTypes.HTTPField(name: name, value: field.value))
        }
    }
}
#endif
