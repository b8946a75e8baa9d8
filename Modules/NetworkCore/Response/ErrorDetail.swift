/// One error in a request.
public struct ErrorDetail: Sendable, Hashable, Codable {
    /// The part of the request that is wrong, if the server names it.
    public var field: String?

    /// What is wrong: a code.
    public var code: String?

    /// What is wrong, in the server's words.
    public var message: String?

    /// Creates a detail.
    ///
    /// - Parameters:
    ///   - field: The part of the request that is wrong.
    ///   - code: What is wrong: a code.
    ///   - message: What is wrong, in the server's words.
    public init(field: String? = nil, code: String? = nil, message: String? = nil) {
        self.field = field
        self.code = code
        self.message = message
    }
}
