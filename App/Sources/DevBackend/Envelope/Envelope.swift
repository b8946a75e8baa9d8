import Foundation

/// What every answer but the OAuth 2.0 ones looks like. Absent values are written as null, never left out.
struct Envelope<Payload: Encodable>: Encodable {
    let success: Bool
    let code: String
    let message: String
    let data: Payload?
    let errors: [APIError.FieldError]?
    let meta: EnvelopeMeta

    private enum CodingKeys: String, CodingKey {
        case success, code, message, data, errors, meta
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(success, forKey: .success)
        try container.encode(code, forKey: .code)
        try container.encode(message, forKey: .message)
        try container.encode(data, forKey: .data)
        try container.encode(errors, forKey: .errors)
        try container.encode(meta, forKey: .meta)
    }
}

/// Which request was answered, when, and how long it took.
struct EnvelopeMeta: Encodable {
    let timestamp: Date
    let path: String
    let requestId: String
    let durationMs: Int
}

/// The payload of an answer that has nothing to say.
struct NoPayload: Encodable {}

extension JSONEncoder {
    /// Dates in whole seconds of UTC, as `JSONDecoder`'s own ISO 8601 strategy reads them on every platform.
    static func api() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        return encoder
    }
}
