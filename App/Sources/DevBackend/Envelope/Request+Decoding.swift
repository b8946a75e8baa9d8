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
        guard (1...limit).contains(key.count) else {
            throw APIError.validation("Idempotency-Key", "Must have 1 to \(limit) characters.")
        }
        return key
    }

    /// Reads the body in pieces, as it arrives.
    ///
    /// - Throws: `tooLarge` as soon as the declared or the received length exceeds the limit, `BODY_TIMEOUT` when the
    ///   client stops sending, and what `receive` throws.
    func readBody(
        upTo limit: Int, orThrow tooLarge: APIError, _ receive: (ByteBuffer) async throws -> Void
    ) async throws {
        if let declared = headers[.contentLength].flatMap({ Int($0) }), declared > limit { throw tooLarge }
        var count = 0
        do {
            for try await chunk in body {
                count += chunk.readableBytes
                guard count <= limit else { throw tooLarge }
                try await receive(chunk)
            }
        } catch is RequestBodyTimeoutHandler.TimedOut {
            throw APIError.bodyTimeout
        }
    }

    /// Collects the body in memory.
    ///
    /// - Throws: What ``readBody(upTo:orThrow:_:)`` throws, and `BODY_MEMORY_EXHAUSTED` when all bodies together take too much
    ///   memory.
    func bodyData(upTo limit: Int, in exchange: Exchange, orThrow tooLarge: APIError) async throws -> Data {
        var collected = ByteBuffer()
        try await readBody(upTo: limit, orThrow: tooLarge) { chunk in
            collected.writeImmutableBuffer(chunk)
            guard exchange.body.grow(to: collected.storageCapacity) else { throw APIError.bodyMemoryExhausted }
        }
        return Data(buffer: collected)
    }

    /// Decodes a JSON body.
    ///
    /// - Throws: `MALFORMED_JSON` unless it is a JSON object, `VALIDATION_FAILED` for a field of the wrong type.
    func json<Value: Decodable>(_ type: Value.Type, upTo limit: Int, in exchange: Exchange) async throws -> Value {
        let data = try await bodyData(upTo: limit, in: exchange, orThrow: .bodyTooLarge(limit))
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch DecodingError.typeMismatch(_, let context) where !context.codingPath.isEmpty {
            throw APIError.validation(context.fieldName, "Has the wrong type.")
        } catch DecodingError.keyNotFound(let key, let context) {
            throw APIError.validation(context.fieldName(appending: key), "Is required.")
        } catch DecodingError.valueNotFound(_, let context) where !context.codingPath.isEmpty {
            throw APIError.validation(context.fieldName, "Is required.")
        } catch DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty {
            throw APIError.validation(context.fieldName, context.debugDescription)
        } catch is DecodingError {
            throw APIError.malformedJSON
        }
    }
}

extension DecodingError.Context {
    fileprivate var fieldName: String { codingPath.map(\.stringValue).joined(separator: ".") }

    fileprivate func fieldName(appending key: any CodingKey) -> String {
        (codingPath + [key]).map(\.stringValue).joined(separator: ".")
    }
}
