/// A request method (RFC 9110 §9).
public struct HTTPMethod: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
    /// The method's name, a token (RFC 9110 §5.6.2). Methods are case-sensitive.
    public let rawValue: String

    /// Creates a method.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Reads a resource (RFC 9110 §9.3.1).
    public static let get = HTTPMethod(rawValue: "GET")

    /// Reads the header fields of a resource, without its body (RFC 9110 §9.3.2).
    public static let head = HTTPMethod(rawValue: "HEAD")

    /// Has the server process the body (RFC 9110 §9.3.3).
    public static let post = HTTPMethod(rawValue: "POST")

    /// Replaces a resource (RFC 9110 §9.3.4).
    public static let put = HTTPMethod(rawValue: "PUT")

    /// Changes a part of a resource (RFC 5789).
    public static let patch = HTTPMethod(rawValue: "PATCH")

    /// Removes a resource (RFC 9110 §9.3.5).
    public static let delete = HTTPMethod(rawValue: "DELETE")

    /// Lists the methods that a resource allows (RFC 9110 §9.3.7).
    public static let options = HTTPMethod(rawValue: "OPTIONS")

    /// Whether several identical requests have the effect of one (RFC 9110 §9.2.2), so that one may be sent again.
    public var isIdempotent: Bool { isSafe || self == .put || self == .delete }

    /// Whether the method only reads (RFC 9110 §9.2.1), also with a body, as `QUERY` does (RFC 10008).
    package var isSafe: Bool {
        switch rawValue {
        case "GET", "HEAD", "OPTIONS", "TRACE", "QUERY", "PROPFIND", "REPORT", "SEARCH": true
        default: false
        }
    }

    /// The method's name.
    public var description: String { rawValue }
}
