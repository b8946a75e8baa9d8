import Foundation

/// The form of every response except those of OAuth 2.0. An absent value is written as null, never left out.
struct Envelope<Value: Encodable>: Encodable {
    let success: Bool
    let code: String
    let message: String
    @NullIfAbsent var data: Value?
    @NullIfAbsent var errors: [APIError.FieldError]?
    let meta: EnvelopeMeta
}

/// The request that an envelope belongs to, the time of the response, and how long it took.
struct EnvelopeMeta: Encodable {
    let timestamp: Date
    let path: String
    let requestId: String
    let durationMs: Int
}

extension JSONEncoder {
    /// The encoder of all responses. Dates are in whole seconds of UTC, as `JSONDecoder`'s own ISO 8601 strategy reads
    /// them on every platform.
    static func api() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        return encoder
    }
}
