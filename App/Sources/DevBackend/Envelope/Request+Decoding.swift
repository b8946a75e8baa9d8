import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

extension Request {
    /// The host of the only `Host` field, in lower case and without the port.
    ///
    /// - Throws: `HOST_REQUIRED` for a request without `Host`, with two, or with one that names no host (RFC 9112
    ///   §3.2).
    func host() throws(APIError) -> String {
        guard let authority = head.authority, headers[.host] == nil,
            let found = authority.wholeMatch(of: /(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~%!$&'()*+;=-]+)(:[0-9]{0,5})?/)
        else { throw APIError.hostRequired }
        return found.1.lowercased()
    }

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

    /// Reads the body in pieces, as it arrives.
    ///
    /// - Throws: `tooLarge` as soon as the declared or the received length exceeds the limit, `BODY_TIMEOUT` when the
    ///   client stops sending, `MALFORMED_FRAMING` for chunks that are none, and what `receive` throws.
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
        } catch is HTTPParserError {
            throw APIError.malformedFraming
        }
    }

    /// Collects the body in memory.
    ///
    /// - Throws: What ``readBody(upTo:orThrow:_:)`` throws, and `BODY_MEMORY_EXHAUSTED` when all bodies together take
    ///   too much memory.
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
