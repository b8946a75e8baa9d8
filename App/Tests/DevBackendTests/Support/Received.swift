import Foundation
import NIOHTTP1
import Testing

/// What the server sends, as a client decodes it.
enum Received {
    struct Response: Sendable {
        let status: Int
        let data: Data
        let head: HTTPHeaders

        func header(_ name: String) -> String? { head.first(name: name) }

        func envelope<Payload: Decodable>(_ type: Payload.Type) throws -> Envelope<Payload> {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            return try decoder.decode(Envelope<Payload>.self, from: data)
        }

        /// The envelope's payload.
        func data<Payload: Decodable>(_ type: Payload.Type) throws -> Payload {
            let envelope = try envelope(type)
            return try #require(envelope.data, "\(envelope.code)")
        }

        /// The envelope's code.
        var code: String? { try? envelope(Ignored.self).code }

        /// The status and the envelope's code, as in `401 TOKEN_EXPIRED`.
        var outcome: String { "\(status) \(code ?? "without a code")" }

        /// The invalid fields that the envelope names.
        var fields: [String] { ((try? envelope(Ignored.self).errors) ?? []).compactMap(\.field) }

        /// A member of a JSON object that is not an envelope.
        func member(_ name: String) -> String? {
            let object = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any]
            return object?[name].map { "\($0)" }
        }
    }

    struct Envelope<Payload: Decodable>: Decodable {
        struct FieldError: Decodable {
            let field: String?
            let message: String
        }

        struct Meta: Decodable {
            let timestamp: Date
            let path: String
            let requestId: String
            let durationMs: Int
        }

        let success: Bool
        let code: String
        let message: String
        let data: Payload?
        let errors: [FieldError]?
        let meta: Meta
    }

    /// A payload of any form, without its content.
    struct Ignored: Decodable {
        init(from decoder: any Decoder) {}
    }

    struct User: Decodable, Equatable {
        let name: String
        let profileImageKey: String?
    }

    /// The response to a sign-in, or to a refresh, which has no user.
    struct Tokens: Decodable, Equatable {
        let accessToken: String
        let refreshToken: String
        let user: User?
    }

    struct Article: Decodable, Equatable {
        struct Author: Decodable, Equatable {
            let id: Int64
            let name: String
        }

        let id: Int
        let title: String
        let content: String
        let author: Author
        let createdAt: Date
        let updatedAt: Date
    }

    struct Page: Decodable {
        let items: [Article]
        let nextCursor: String?
    }
}
