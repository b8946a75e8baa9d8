/// Why an exchange brought no answer, or not all of one.
public struct HTTPTransportError: Error, Sendable {
    /// What went wrong. The client makes it the code of its ``NetworkError``.
    public let code: NetworkError.Code

    /// What happened, in words, without a secret.
    public let reason: String

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: What went wrong: `connectionFailed`, `timedOut`, `tlsFailed` or `transportFailed` in most cases.
    ///   - reason: What happened, in words, without a secret: no address with a query, no header value.
    public init(_ code: NetworkError.Code, reason: String) {
        self.code = code
        self.reason = reason
    }
}

extension HTTPTransportError: CustomStringConvertible {
    /// The code and the words.
    public var description: String { "\(code): \(reason)" }
}
