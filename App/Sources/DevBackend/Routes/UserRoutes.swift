import Crypto
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

    private func me(_ request: Request, _ exchange: Exchange) async throws -> Response {
        let userID = try await authenticator.userID(of: request, in: exchange)
        let user = try await database.writer.read { database in
            try Stored.User.fetchOne(database, key: userID)
        }
        guard let user else { throw APIError.notFound }
        return try exchange.success(Payload.User(user, origin: exchange.origin))
    }

    private func file(_ request: Request, _ exchange: Exchange) async throws -> Response {
        _ = try await authenticator.userID(of: request, in: exchange)
        let file = try await database.writer.read { database in
            try Stored.File.fetchOne(database, key: exchange.parameter)
        }
        guard let file else { throw APIError.notFound }
        return Self.response(to: request, file.bytes)
    }

    /// The file, or what a download that was interrupted asks for: one range of bytes (RFC 9110 §14), if the tag shows
    /// that the file is still the same. Any other range is ignored, as §14.2 allows.
    private static func response(to request: Request, _ bytes: Data) -> Response {
        let tag = "\"\(Data(SHA256.hash(data: bytes)).base64URLEncodedString())\""
        var headers: HTTPFields = [
            .eTag: tag, .cacheControl: "private, max-age=0", .contentType: "image/jpeg", .acceptRanges: "bytes",
        ]
        guard (request.headers[.ifRange] ?? tag) == tag,
            let range = request.headers[.range]?.wholeMatch(of: /bytes=([0-9]{1,18})-([0-9]{1,18})?/),
            let first = Int(range.1), range.2.flatMap({ Int($0) }) ?? first >= first
        else {
            return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
        }
        guard first < bytes.count else {
            return Response(status: .rangeNotSatisfiable, headers: [.contentRange: "bytes */\(bytes.count)"])
        }
        let last = min(range.2.flatMap { Int($0) } ?? .max, bytes.count - 1)
        headers[.contentRange] = "bytes \(first)-\(last)/\(bytes.count)"
        let part = ByteBuffer(bytes: bytes.dropFirst(first).prefix(last - first + 1))
        return Response(status: .partialContent, headers: headers, body: ResponseBody(byteBuffer: part))
    }
}
