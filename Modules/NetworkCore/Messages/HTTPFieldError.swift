public import AuthInterface

/// Why a header field cannot be sent. It holds no value.
public struct HTTPFieldError: Error, Sendable, Hashable {
    /// The reasons.
    public typealias Code = ErrorCode<HTTPFieldError>

    /// The reason.
    public let code: Code

    /// The name of the field. Empty where the name itself is invalid.
    public let field: String
}

extension ErrorCode<HTTPFieldError> {
    /// The name is not a token.
    public static var invalidName: Self { Self(rawValue: "invalidName") }

    /// The value has a control character in it.
    public static var invalidValue: Self { Self(rawValue: "invalidValue") }

    /// The field frames the message or manages the connection; the transport writes it.
    public static var framing: Self { Self(rawValue: "framing") }
}

extension HTTPFieldError: CustomStringConvertible {
    /// What is wrong and what to do.
    public var description: String {
        switch code {
        case .invalidName:
            "the name of a header field is not a token; use letters, digits and !#$%&'*+-.^_`|~ only"
        case .invalidValue:
            "the header field \(field) has a control character in it; remove line ends, or percent-encode the value"
        case .framing:
            "the header field \(field) belongs to the transport; leave it out (the body says its own length)"
        default:
            "the header field \(field) cannot be sent (\(code.rawValue))"
        }
    }
}
