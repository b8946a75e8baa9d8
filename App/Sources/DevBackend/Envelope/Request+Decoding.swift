import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOFoundationCompat

extension Request {
    /// The value of `Idempotency-Key`; nil without one.
    ///
    /// - Throws: `VALIDATION_FAILED` for an empty key or one longer than `limit` characters.
    func idempotencyKey(upTo limit: Int) throws(APIError) -> String? {
        guard let key = headers[.idempotencyKey] else { return nil }
        guard (1...limit).contains(key.unicodeScalars.count) else {
            throw APIError.validation("Idempotency-Key", "Must have 1 to \(limit) characters.")
        }
        return key
    }

    /// - Throws: `tooLarge` as soon as the declared or the received length exceeds the limit.
    func bodyData(upTo limit: Int, orThrow tooLarge: APIError) async throws -> Data {
        if let declared = headers[.contentLength].flatMap({ Int($0) }), declared > limit { throw tooLarge }
        var collected = ByteBuffer()
        for try await chunk in body {
            collected.writeImmutableBuffer(chunk)
            guard collected.readableBytes <= limit else { throw tooLarge }
        }
        return Data(buffer: collected)
    }

    /// - Throws: `MALFORMED_JSON` unless it is a JSON object, `VALIDATION_FAILED` for a field of the wrong type.
    func json<Value: Decodable>(_ type: Value.Type, upTo limit: Int) async throws -> Value {
        let data = try await bodyData(upTo: limit, orThrow: .bodyTooLarge(limit))
        func invalid(_ path: [any CodingKey], _ message: String) -> APIError {
            .validation(path.map(\.stringValue).joined(separator: "."), message)
        }
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch DecodingError.typeMismatch(_, let context) where !context.codingPath.isEmpty {
            throw invalid(context.codingPath, "Has the wrong type.")
        } catch DecodingError.keyNotFound(let key, let context) {
            throw invalid(context.codingPath + [key], "Is required.")
        } catch DecodingError.valueNotFound(_, let context) where !context.codingPath.isEmpty {
            throw invalid(context.codingPath, "Is required.")
        } catch DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty {
            throw invalid(context.codingPath, context.debugDescription)
        } catch is DecodingError {
            throw APIError.malformedJSON
        }
    }
}
