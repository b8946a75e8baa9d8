import Foundation
import GRDB

/// What the API sends as `data`.
enum Payload {
    /// No `data` at all.
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

    /// The result of a sign-in.
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
        let body: String
        let author: Author
        let createdAt: Date
        let updatedAt: Date

        /// Reads a row of `article` joined with `authorName`.
        init(row: Row) throws {
            id = try row.decode(forColumn: "id")
            title = try row.decode(forColumn: "title")
            body = try row.decode(forColumn: "body")
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
