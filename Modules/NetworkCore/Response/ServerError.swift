/// A server's description of an error.
///
/// Decoding is lenient, because errors come from proxies, gateways and older servers too: a code may be a number, and
/// where there is no `code` or `message`, `error` and `error_description` of OAuth 2 (RFC 6749 §5.2) and the members of
/// problem details (RFC 9457) are used.
public struct ServerError: Error, Sendable, Hashable {
    /// The code of the error: `NOT_FOUND`, `invalid_grant`.
    public var code: String?

    /// What happened, in the server's words.
    public var message: String?

    /// The errors in the request.
    public var errors: [ErrorDetail]

    /// The server's identifier of the request.
    public var requestId: String?

    /// Creates an error.
    public init(code: String? = nil, message: String? = nil, errors: [ErrorDetail] = [], requestId: String? = nil) {
        self.code = code
        self.message = message
        self.errors = errors
        self.requestId = requestId
    }
}

extension ServerError: Decodable {
    private enum Key: String, CodingKey {
        case code, message, errors, requestId, meta, error, detail, title
        case errorDescription = "error_description"
    }

    /// Decodes the description of an error.
    ///
    /// - Throws: `DecodingError` when there is no object, or none of the known members.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: Key.self)
        func text(_ keys: Key...) -> String? {
            keys.lazy.compactMap { try? object.decode(LenientText.self, forKey: $0).text }.first
        }
        let details = (try? object.decode([LenientDetail].self, forKey: .errors))?.map(\.detail) ?? []
        let meta = try? object.nestedContainer(keyedBy: Key.self, forKey: .meta)
        self.init(
            code: text(.code, .error),
            message: text(.message, .errorDescription, .detail, .title),
            errors: details,
            requestId: (try? meta?.decode(String.self, forKey: .requestId)) ?? text(.requestId)
        )
        guard code != nil || message != nil || !errors.isEmpty else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "not an error object")
            )
        }
    }

    private struct LenientText: Decodable {
        let text: String

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            text = try (try? value.decode(Int.self)).map(String.init) ?? value.decode(String.self)
        }
    }

    private struct LenientDetail: Decodable {
        let detail: ErrorDetail

        init(from decoder: any Decoder) throws {
            let text = try? decoder.singleValueContainer().decode(String.self)
            detail = try text.map { ErrorDetail(message: $0) } ?? ErrorDetail(from: decoder)
        }
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
