import Foundation
import HTTPTypes
import Hummingbird

/// `/articles`: a signed-in user can read all articles, and change their own.
struct ArticleRoutes: Sendable {
    let articles: Articles
    let feed: ArticleFeed
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

    private func list(_ request: Request, _ context: BackendContext) async throws -> Response {
        _ = try await authenticator.principal(of: request, in: context.exchange)
        var limit = limits.defaultPageItems
        if let text = request.uri.queryParameters["limit"] {
            guard let number = Int(text), (1...limits.pageItems).contains(number) else {
                throw APIError.validation("limit", "Must be between 1 and \(limits.pageItems).")
            }
            limit = number
        }
        var cursor: Articles.Cursor?
        if let text = request.uri.queryParameters["cursor"], !text.isEmpty {
            guard let parsed = Articles.Cursor(String(text)) else {
                throw APIError.validation("cursor", "Is not a cursor of this list.")
            }
            cursor = parsed
        }
        let page = try await articles.page(after: cursor, limit: limit)
        let tag = try EntityTag(of: page, in: context.exchange.dialect)
        return try tag.notModified(request) ?? context.exchange.success(page, headers: tag.fields)
    }

    private func show(_ request: Request, _ context: BackendContext) async throws -> Response {
        _ = try await authenticator.principal(of: request, in: context.exchange)
        let article = try await articles.article(try articleID(context))
        let tag = try EntityTag(of: article, in: context.exchange.dialect)
        return try tag.notModified(request) ?? context.exchange.success(article, headers: tag.fields)
    }

    private func create(_ request: Request, _ context: BackendContext) async throws -> Response {
        let principal = try await authenticator.principal(of: request, in: context.exchange)
        let key = try request.idempotencyKey(upTo: limits.idempotencyKeyCharacters)
        let body = try await request.json(CreateRequest.self, upTo: limits.bodyBytes, in: context.exchange)
        try validate(title: body.title, content: body.content)
        let draft = Articles.Draft(title: body.title, body: body.content)
        let (article, isNew) = try await articles.create(draft, by: principal.userID, idempotencyKey: key, now: now())
        if isNew { feed.notify() }
        let id = context.exchange.dialect.identifiers.text(article.id.number)
        let tag = try EntityTag(of: article, in: context.exchange.dialect)
        return try context.exchange.success(
            article, status: isNew ? .created : .ok,
            headers: [.location: "\(RouteTable.basePath)/articles/\(id)", .eTag: tag.text])
    }

    private func change(_ request: Request, _ context: BackendContext) async throws -> Response {
        let principal = try await authenticator.principal(of: request, in: context.exchange)
        let id = try articleID(context)
        let body = try await request.json(ChangeRequest.self, upTo: limits.bodyBytes, in: context.exchange)
        try validate(title: body.title, content: body.content)
        let dialect = context.exchange.dialect
        let article = try await articles.change(
            id, title: body.title, body: body.content, by: principal.userID, now: now(),
            if: { try EntityTag(of: $0, in: dialect).checkIfMatch(of: request) })
        feed.notify()
        return try context.exchange.success(article, headers: [.eTag: try EntityTag(of: article, in: dialect).text])
    }

    private func delete(_ request: Request, _ context: BackendContext) async throws -> Response {
        let principal = try await authenticator.principal(of: request, in: context.exchange)
        let dialect = context.exchange.dialect
        try await articles.delete(
            try articleID(context), by: principal.userID, now: now(),
            if: { try EntityTag(of: $0, in: dialect).checkIfMatch(of: request) })
        feed.notify()
        return Response(status: .noContent)
    }

    private func articleID(_ context: BackendContext) throws -> Int64 {
        let text = try context.parameters.require("id")
        guard let id = context.exchange.dialect.identifiers.number(text) else { throw APIError.notFound }
        return id
    }

    private func validate(title: String?, content: String?) throws {
        var errors: [APIError.FieldError] = []
        if let title, !(1...limits.titleCharacters).contains(title.unicodeScalars.count) {
            errors.append(.init(field: "title", message: "Must have 1 to \(limits.titleCharacters) characters."))
        }
        if let content, !(1...limits.articleCharacters).contains(content.unicodeScalars.count) {
            errors.append(.init(field: "content", message: "Must have 1 to \(limits.articleCharacters) characters."))
        }
        for (field, text) in [("title", title), ("content", content)] where text?.contains("\0") == true {
            errors.append(.init(field: field, message: "Must not have a null character."))
        }
        guard errors.isEmpty else { throw APIError.validation(errors) }
    }
}
