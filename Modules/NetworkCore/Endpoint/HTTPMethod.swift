/// A request method (RFC 9110 §9).
public struct HTTPMethod: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
    /// The method's name. Methods are case-sensitive.
    public let rawValue: String

    /// Creates a method.
    ///
    /// - Parameter rawValue: The method's name, a token of RFC 9110 §5.6.2.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Reads (RFC 9110 §9.3.1).
    public static let get = HTTPMethod(rawValue: "GET")

    /// Reads the head only (RFC 9110 §9.3.2).
    public static let head = HTTPMethod(rawValue: "HEAD")

    /// Processes what it carries (RFC 9110 §9.3.3).
    public static let post = HTTPMethod(rawValue: "POST")

    /// Replaces (RFC 9110 §9.3.4).
    public static let put = HTTPMethod(rawValue: "PUT")

    /// Changes a part (RFC 5789).
    public static let patch = HTTPMethod(rawValue: "PATCH")

    /// Removes (RFC 9110 §9.3.5).
    public static let delete = HTTPMethod(rawValue: "DELETE")

    /// Asks what is possible (RFC 9110 §9.3.7).
    public static let options = HTTPMethod(rawValue: "OPTIONS")

    /// Whether several identical requests mean the same as one (RFC 9110 §9.2.2), so that one may be sent again.
    public var isIdempotent: Bool {
        switch self {
        case .get, .head, .put, .delete, .options: true
        default: false
        }
    }

    /// The method's name.
    public var description: String { rawValue }
}
