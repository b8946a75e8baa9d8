import Foundation

// What header fields may be made of (RFC 9110 §5). Anything else could end the field early and begin another one.

extension String {
    /// Whether the text can be a field's name: a token of RFC 9110 §5.6.2.
    var isFieldName: Bool {
        !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default:
                    "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    /// Whether the text can be a field's value: no control characters but the tab (RFC 9110 §5.5).
    var isFieldValue: Bool {
        utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }
    }
}

extension URLRequest {
    /// Refuses what cannot be sent, or would not be sent as it looks.
    ///
    /// - Throws: ``NetworkError`` with code `invalidRequest`; it names the field, never its value.
    func validate() throws {
        guard let url, Origin(url) != nil else {
            throw NetworkError(.invalidRequest, reason: "the address is not http or https, or has no host")
        }
        guard url.user == nil, url.password == nil else {
            throw NetworkError(.invalidRequest, reason: "the address holds user information")
        }
        guard httpBody == nil, httpBodyStream == nil else {
            throw NetworkError(.invalidRequest, reason: "an interceptor set a body; bodies belong to endpoints")
        }
        guard let method = httpMethod, method.isFieldName else {
            throw NetworkError(.invalidRequest, reason: "the method is not a token")
        }
        for (name, value) in allHTTPHeaderFields ?? [:] {
            try Self.validate(name, value)
        }
    }

    /// Sets a field, or refuses to. `URLRequest` itself drops a value it does not like without a word on some
    /// platforms, and sends it on others.
    ///
    /// - Throws: ``NetworkError`` with code `invalidRequest`; it names the field, never its value.
    mutating func set(_ name: String, _ value: String?) throws {
        if let value { try Self.validate(name, value) }
        setValue(value, forHTTPHeaderField: name)
    }

    private static func validate(_ name: String, _ value: String) throws {
        guard name.isFieldName else {
            throw NetworkError(.invalidRequest, reason: "a header field's name is not a token")
        }
        guard value.isFieldValue else {
            throw NetworkError(.invalidRequest, reason: "the header field \(name) has a control character in it")
        }
    }
}
