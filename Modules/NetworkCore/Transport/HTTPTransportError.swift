/// Why an exchange has no response, or an incomplete one.
public struct HTTPTransportError: Error, Sendable {
    /// What went wrong. The ``NetworkError`` of the client has the same code.
    public let code: NetworkError.Code

    /// What happened, for a developer, without a secret.
    public let reason: String

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: What went wrong: `connectionFailed`, `timedOut`, `tlsFailed` or `transportFailed` in most cases.
    ///   - reason: What happened, for a developer, without a secret: no query of a URL, no header value.
    public init(_ code: NetworkError.Code, reason: String) {
        self.code = code
        self.reason = reason
    }
}

extension HTTPTransportError: CustomStringConvertible {
    /// The code and the reason.
    public var description: String { "\(code): \(reason)" }
}
