import Foundation

/// A user, as the API shows one.
struct UserPayload: Encodable {
    let id: Int64
    let name: String
    let profileUrl: String?
    let profileImageKey: String?

    init(_ user: UserRecord, origin: String) throws {
        id = try user.requireID()
        name = user.name
        profileImageKey = user.imageKey
        profileUrl = user.imageKey.map { "\(origin)\(RouteTable.basePath)/files/\($0)" }
    }

    private enum CodingKeys: String, CodingKey {
        case id, name, profileUrl, profileImageKey
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(name, forKey: .name)
        try container.encode(profileUrl, forKey: .profileUrl)
        try container.encode(profileImageKey, forKey: .profileImageKey)
    }
}

/// What a sign-in answers.
struct SignedInPayload: Encodable {
    let user: UserPayload
    let accessToken: String
    let refreshToken: String
}

/// An article, as the API shows one.
struct ArticlePayload: Encodable {
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
}

/// A page of a list; the cursor is null at its end.
struct PagePayload<Item: Encodable>: Encodable {
    let items: [Item]
    let nextCursor: String?

    private enum CodingKeys: String, CodingKey {
        case items, nextCursor
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(items, forKey: .items)
        try container.encode(nextCursor, forKey: .nextCursor)
    }
}
