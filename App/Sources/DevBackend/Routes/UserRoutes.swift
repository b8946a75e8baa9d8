import Foundation
import GRDB
import HTTPTypes
import Hummingbird
import NIOCore

/// `/users` and `/files`.
struct UserRoutes: Sendable {
    let database: BackendDatabase
    let authenticator: Authenticator

    var routes: [Route] {
        [
            Route(.get, "/users/me") { try await me($0, $1) },
            Route(.get, "/files/{key}") { try await file($0, $1) },
        ]
    }

    private func me(_ request: Request, _ context: BackendContext) async throws -> Response {
        let principal = try await authenticator.principal(of: request, in: context.exchange)
        let user = try await database.writer.read { database in
            try Stored.User.fetchOne(database, key: principal.userID)
        }
        guard let user else { throw APIError.notFound }
        return try context.exchange.success(Payload.User(user, origin: context.exchange.origin))
    }

    private func file(_ request: Request, _ context: BackendContext) async throws -> Response {
        _ = try await authenticator.principal(of: request, in: context.exchange)
        let key = try context.parameters.require("key")
        let file = try await database.writer.read { database in
            try Stored.File.fetchOne(database, key: key)
        }
        guard let file else { throw APIError.notFound }
        return Self.response(to: request, file)
    }

    /// The file, a part of it, or that the client has it.
    private static func response(to request: Request, _ file: Stored.File) -> Response {
        let (bytes, tag) = (file.bytes, EntityTag(of: file.bytes))
        if let response = tag.notModified(request) { return response }
        var headers = tag.fields
        headers[.contentType] = "image/jpeg"
        headers[.acceptRanges] = "bytes"
        switch ByteRange(of: request, count: bytes.count, tag: tag) {
        case .whole:
            return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
        case .part(let range):
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(bytes.count)"
            let part = ByteBuffer(bytes: bytes.dropFirst(range.lowerBound).prefix(range.count))
            return Response(status: .partialContent, headers: headers, body: ResponseBody(byteBuffer: part))
        case .unsatisfiable:
            return Response(status: .rangeNotSatisfiable, headers: [.contentRange: "bytes */\(bytes.count)"])
        }
    }
}
