import Foundation
import HTTPTypes
import Hummingbird

/// `/articles`: a signed-in user can read all articles, and change their own.
struct ArticleRoutes: Sendable {
    let articles: Articles
    let authenticator: Authenticator
    let limits: DevBackend.Limits
    let now: @Sendable () -> Date

    var routes: [Route] {
        [
            Route(.get, "/articles") { try await list($0, $1) },
            Route(.post, "/articles") { try await create($0, $1) },
            Route(.get, "/articles/{id}") { try await show($0, $1) },
            Route(.patch, "/articles/{id}") { try await change($0, $1) },
            Route(.delete, "/articles/{id}") { try await delete($0, $1) },
        ]
    }

    private struct CreateRequest: Decodable {
        let title: String
        let content: String
    }

    private struct ChangeRequest: Decodable {
        let title: String?
        let content: String?
    }

    private func list(_ request: Request, _ exchange: Exchange) async throws -> Response {
        _ = try await authenticator.userID(of: request, in: exchange)
        var limit = limits.defaultPageItems
        if let text = request.uri.queryParameters["limit"] {
            guard let number = Int(text), (1...limits.pageItems).contains(number) else {
                throw APIError.validation("limit", "Must be between 1 and \(limits.pageItems).")
            }
            limit = number
        }
        let cursor = request.uri.queryParameters["cursor"] ?? ""
        guard cursor.isEmpty || Int64(cursor) != nil else {
            throw APIError.validation("cursor", "Is not a cursor of this list.")
        }
        let page = try await articles.page(before: Int64(cursor), limit: limit)
        return try exchange.success(page, headers: Self.ofUser)
    }

    private func show(_ request: Request, _ exchange: Exchange) async throws -> Response {
        _ = try await authenticator.userID(of: request, in: exchange)
        return try exchange.success(await articles.article(try articleID(exchange)), headers: Self.ofUser)
    }

    private func create(_ request: Request, _ exchange: Exchange) async throws -> Response {
        let userID = try await authenticator.userID(of: request, in: exchange)
        let key = try request.idempotencyKey(upTo: limits.idempotencyKeyCharacters)
        let body = try await request.json(CreateRequest.self, upTo: limits.bodyBytes)
        try validate(title: body.title, content: body.content)
        let draft = Articles.Draft(title: body.title, body: body.content)
        let (article, isNew) = try await articles.create(draft, by: userID, idempotencyKey: key, now: now())
        let location = "\(RouteTable.basePath)/articles/\(article.id)"
        return try exchange.success(article, status: isNew ? .created : .ok, headers: [.location: location])
    }

    private func change(_ request: Request, _ exchange: Exchange) async throws -> Response {
        let userID = try await authenticator.userID(of: request, in: exchange)
        let id = try articleID(exchange)
        let body = try await request.json(ChangeRequest.self, upTo: limits.bodyBytes)
        try validate(title: body.title, content: body.content)
        let article = try await articles.change(
            id, title: body.title, body: body.content, by: userID, now: now())
        return try exchange.success(article)
    }

    private func delete(_ request: Request, _ exchange: Exchange) async throws -> Response {
        let userID = try await authenticator.userID(of: request, in: exchange)
        try await articles.delete(try articleID(exchange), by: userID, now: now())
        return Response(status: .noContent)
    }

    /// Only this user's cache may keep the response, and asks before it is used, unless the client accepts what is
    /// stale: one that cannot reach the server may show what it has seen.
    private static let ofUser: HTTPFields = [.cacheControl: "private, max-age=0"]

    private func articleID(_ exchange: Exchange) throws -> Int64 {
        guard let id = Int64(exchange.parameter) else { throw APIError.notFound }
        return id
    }

    private func validate(title: String?, content: String?) throws {
        let texts = [("title", title, limits.titleCharacters), ("content", content, limits.articleCharacters)]
        var errors: [APIError.FieldError] = []
        for case (let field, let text?, let limit) in texts where !(1...limit).contains(text.unicodeScalars.count) {
            errors.append(.init(field: field, message: "Must have 1 to \(limit) characters."))
        }
        for (field, text, _) in texts where text?.contains("\0") == true {
            errors.append(.init(field: field, message: "Must not have a null character."))
        }
        guard errors.isEmpty else { throw APIError.validation(errors) }
    }
}
