import Foundation

extension URLRequest {
    /// The request with a header field, in place of the field of that name.
    ///
    /// - Parameters:
    ///   - name: The name of the field.
    ///   - value: The value of the field. `nil` removes the field.
    /// - Returns: The changed request.
    public func setting(_ name: String, to value: String?) -> URLRequest {
        var copy = self
        copy.setValue(value, forHTTPHeaderField: name)
        return copy
    }

    /// Refuses a request that cannot be sent, or that would not be sent as it is.
    ///
    /// - Throws: ``NetworkError`` with code `invalidRequest`. It names the field, never its value.
    func validate() throws {
        guard let url, Origin(url) != nil else {
            throw NetworkError(.invalidRequest, reason: "the URL is not http or https, or has no host")
        }
        guard url.user == nil, url.password == nil else {
            throw NetworkError(.invalidRequest, reason: "the URL contains user information")
        }
        guard httpBody == nil, httpBodyStream == nil else {
            throw NetworkError(.invalidRequest, reason: "an interceptor set a body; set the body of the endpoint")
        }
        guard let method = httpMethod, method.isFieldName else {
            throw NetworkError(.invalidRequest, reason: "the method is not a token")
        }
        for (name, value) in allHTTPHeaderFields ?? [:] {
            try Self.validate(name, value)
        }
    }

    /// Sets a field whose name and value are valid. `URLRequest` itself drops an invalid value silently on some platforms,
    /// and sends it on others.
    ///
    /// - Throws: ``NetworkError`` with code `invalidRequest`. It names the field, never its value.
    mutating func set(_ name: String, _ value: String?) throws {
        if let value { try Self.validate(name, value) }
        setValue(value, forHTTPHeaderField: name)
    }

    private static func validate(_ name: String, _ value: String) throws {
        guard name.isFieldName else {
            throw NetworkError(.invalidRequest, reason: "the name of a header field is not a token")
        }
        guard value.isFieldValue else {
            throw NetworkError(.invalidRequest, reason: "the header field \(name) contains a control character")
        }
    }
}
