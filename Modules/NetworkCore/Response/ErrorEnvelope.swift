/// What a server says about an error (row N7).
///
/// Reading one is lenient, because errors come from proxies, gateways and older versions too: a code may be a number,
/// and OAuth2's `error` and `error_description` (RFC 6749 §5.2) and the members of problem details (RFC 9457) are
/// taken where the envelope's own are absent.
public struct ErrorEnvelope: Error, Sendable, Hashable {
    /// What happened, for programs: `NOT_FOUND`, `invalid_grant`.
    public var code: String?

    /// What happened, for people, in the server's words.
    public var message: String?

    /// What is wrong with the request, one by one.
    public var errors: [ErrorDetail]

    /// The server's name for the request.
    public var requestId: String?

    /// Creates an error envelope.
    ///
    /// - Parameters:
    ///   - code: What happened, for programs.
    ///   - message: What happened, for people.
    ///   - errors: What is wrong with the request.
    ///   - requestId: The server's name for the request.
    public init(
        code: String? = nil,
        message: String? = nil,
        errors: [ErrorDetail] = [],
        requestId: String? = nil
    ) {
        self.code = code
        self.message = message
        self.errors = errors
        self.requestId = requestId
    }
}

/// One thing that is wrong with a request.
public struct ErrorDetail: Sendable, Hashable, Codable {
    /// The part of the request that is wrong, where the server names one.
    public var field: String?

    /// What is wrong, for programs.
    public var code: String?

    /// What is wrong, for people.
    public var message: String?

    /// Creates a detail.
    ///
    /// - Parameters:
    ///   - field: The part of the request that is wrong.
    ///   - code: What is wrong, for programs.
    ///   - message: What is wrong, for people.
    public init(field: String? = nil, code: String? = nil, message: String? = nil) {
        self.field = field
        self.code = code
        self.message = message
    }
}

extension ErrorEnvelope: Decodable {
    private enum Key: String, CodingKey {
        case code, message, errors, requestId, meta, error, detail, title
        case errorDescription = "error_description"
    }

    /// Reads what a server says about an error.
    ///
    /// - Parameter decoder: Where to read from.
    /// - Throws: `DecodingError` when there is no object, or one with no member that says anything.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: Key.self)
        func text(_ keys: Key...) -> String? {
            keys.lazy.compactMap { try? object.decode(LenientText.self, forKey: $0).text }.first
        }
        let details = (try? object.decode([LenientDetail].self, forKey: .errors))?.map(\.detail) ?? []
        let meta = try? object.decode(ResponseMetadata.self, forKey: .meta)
        self.init(
            code: text(.code, .error),
            message: text(.message, .errorDescription, .detail, .title),
            errors: details,
            requestId: meta?.requestId ?? text(.requestId)
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
            if let number = try? value.decode(Int.self) {
                text = String(number)
            } else {
                text = try value.decode(String.self)
            }
        }
    }

    private struct LenientDetail: Decodable {
        let detail: ErrorDetail

        init(from decoder: any Decoder) throws {
            if let text = try? decoder.singleValueContainer().decode(String.self) {
                detail = ErrorDetail(message: text)
            } else {
                detail = try ErrorDetail(from: decoder)
            }
        }
    }
}
