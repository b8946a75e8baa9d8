/// A server's description of an error.
///
/// Decoding is lenient, because errors come from proxies, gateways and older servers too: a code may be a number, and
/// it may be inside a member `error` or in a list of errors. It reads the errors of OAuth 2 (RFC 6749 §5.2), problem
/// details (RFC 9457), JSON:API, GraphQL, and those of common frameworks and clouds.
public struct ServerError: Error, Sendable, Hashable {
    /// The code of the error: `NOT_FOUND`, `invalid_grant`.
    public var code: String?

    /// What happened, in the server's words.
    public var message: String?

    /// The errors in the request.
    public var errors: [ErrorDetail]

    /// The server's identifier of the request.
    public var requestId: String?

    /// The codes in the body beside ``code``.
    var otherCodes: [String] = []

    /// Creates an error.
    public init(code: String? = nil, message: String? = nil, errors: [ErrorDetail] = [], requestId: String? = nil) {
        self.code = code
        self.message = message
        self.errors = errors
        self.requestId = requestId
    }
}

extension ServerError: Decodable {
    /// Decodes the description of an error, in any of the forms that servers commonly use: see the article on errors.
    ///
    /// - Throws: `DecodingError` when there is no object, or none of the known members.
    public init(from decoder: any Decoder) throws {
        guard let error = ServerError(ErrorBody(try JSONValue(from: decoder))) else {
            let context = DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "not an error object")
            throw DecodingError.dataCorrupted(context)
        }
        self = error
    }

    /// Reads the error of a response, in any common form. `nil`: it says nothing of one.
    package init?(in response: HTTPResponse) {
        guard let body = ErrorBody(response.body, response.head.headers) else { return nil }
        self.init(body)
    }

    /// Reads the error in the place of a value (GraphQL, ArcGIS, Slack). `nil`: the body does not say that it failed.
    package init?(inSuccess response: HTTPResponse) {
        guard ErrorBody(response.body)?.saysFailure == true else { return nil }
        self.init(in: response)
    }

    private init?(_ body: ErrorBody) {
        let codes = body.codes
        self.init(code: codes.first, message: body.message, errors: body.details, requestId: body.requestID)
        otherCodes = Array(codes.dropFirst())
        guard code != nil || message != nil || !errors.isEmpty else { return nil }
    }

    /// Whether one of the codes in the body is one of these. Case is ignored.
    func hasCode(of codes: Set<String>) -> Bool {
        ([code].compactMap(\.self) + otherCodes).contains { $0.isOne(of: codes) }
    }
}

/// One error in a request.
public struct ErrorDetail: Sendable, Hashable, Codable {
    /// The part of the request that is wrong, if the server names it.
    public var field: String?

    /// What is wrong: a code.
    public var code: String?

    /// What is wrong, in the server's words.
    public var message: String?

    /// Creates a detail.
    public init(field: String? = nil, code: String? = nil, message: String? = nil) {
        self.field = field
        self.code = code
        self.message = message
    }
}
