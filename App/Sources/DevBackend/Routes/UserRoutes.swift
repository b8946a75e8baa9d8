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
        return Response(
            status: .ok, headers: [.contentType: "image/jpeg"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: file.bytes)))
    }
}
