import Foundation
import GRDB

/// The form of every response except those of OAuth 2.0. An absent value is written as null, never left out.
struct Envelope<Value: Encodable>: Encodable {
    let success: Bool
    let code: String
    let message: String
    @NullIfAbsent var data: Value?
    @NullIfAbsent var errors: [APIError.FieldError]?
    let meta: EnvelopeMeta
}

struct EnvelopeMeta: Encodable {
    let timestamp: Date
    let path: String
    let requestId: String
    let durationMs: Int
}

extension JSONEncoder {
    /// The encoder of all responses. Dates are in whole seconds of UTC, as `JSONDecoder`'s own ISO 8601 strategy reads
    /// them on every platform.
    static var api: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        return encoder
    }
}

/// An optional member that is written as null without a value. A plain optional would be left out.
@propertyWrapper struct NullIfAbsent<Value: Encodable>: Encodable {
    var wrappedValue: Value?

    init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

/// What the API sends as `data`.
enum Payload {
    struct Empty: Encodable {}

    struct User: Encodable {
        let id: Int64
        let name: String
        @NullIfAbsent var profileUrl: String?
        @NullIfAbsent var profileImageKey: String?

        init(_ user: Stored.User, origin: String) throws {
            id = try user.requireID()
            name = user.name
            profileImageKey = user.imageKey
            profileUrl = user.imageKey.map { "\(origin)\(RouteTable.basePath)/files/\($0)" }
        }
    }

    struct SignedIn: Encodable {
        let user: User
        let accessToken: String
        let refreshToken: String
    }

    struct Article: Encodable, FetchableRecord {
        struct Author: Encodable {
            let id: Int64
            let name: String
        }

        let id: Int64
        let title: String
        let content: String
        let author: Author
        let createdAt: Date
        let updatedAt: Date

        /// Reads a row of `article` joined with `authorName`.
        init(row: Row) throws {
            id = try row.decode(forColumn: "id")
            title = try row.decode(forColumn: "title")
            content = try row.decode(forColumn: "body")
            author = Author(
                id: try row.decode(forColumn: "authorID"), name: try row.decode(forColumn: "authorName"))
            createdAt = try row.decode(forColumn: "createdAt")
            updatedAt = try row.decode(forColumn: "updatedAt")
        }
    }

    /// A page of a list. The last page has no cursor.
    struct Page<Item: Encodable>: Encodable {
        let items: [Item]
        @NullIfAbsent var nextCursor: String?
    }
}
