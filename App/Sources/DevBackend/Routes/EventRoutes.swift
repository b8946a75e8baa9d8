import GRDB
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle

/// `GET /articles/events`: server-sent events (WHATWG HTML, 9.2) named `created`, `changed` and `deleted`, whose data
/// is `{"id": …}`.
///
/// A stream begins after the `Last-Event-ID` of the request, or with what happens next. It ends when the access token
/// expires or the session ends: the client refreshes, and resumes after the last event it has.
struct EventRoutes: Sendable {
    let database: BackendDatabase
    let authenticator: Authenticator
    let limits: DevBackend.Limits

    private static let interval = Duration.milliseconds(50)
    private static let batch = 100

    var routes: [Route] {
        [Route(.get, "/articles/events") { try await events($0, $1) }]
    }

    private func events(_ request: Request, _ exchange: Exchange) async throws -> Response {
        _ = try await authenticator.userID(of: request, in: exchange)
        let first: Int64
        if let text = request.headers[.lastEventID], !text.isEmpty {
            guard let id = Int64(text), id >= 0 else {
                throw APIError.validation("Last-Event-ID", "Is not the identifier of an event.")
            }
            first = id
        } else {
            first = try await database.writer.read { database in
                try Int64.fetchOne(database, sql: "SELECT max(id) FROM articleEvent") ?? 0
            }
        }
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: ResponseBody { writer in
                // An identifier without data: a client that reconnects before the first event misses none.
                try await writer.write(
                    ByteBuffer(string: "id: \(first)\nretry: \(limits.eventRetry.wholeMilliseconds)\n\n"))
                var (last, lastWrite) = (first, ContinuousClock.now)
                while !Task.isShuttingDownGracefully {
                    let events = try await events(after: last)
                    // No event for a session that has ended.
                    guard (try? await authenticator.userID(of: request, in: exchange)) != nil else { break }
                    for event in events {
                        let text = "id: \(event.id ?? 0)\nevent: \(event.kind)\ndata: {\"id\":\(event.articleID)}\n\n"
                        try await writer.write(ByteBuffer(string: text))
                    }
                    last = events.last?.id ?? last
                    if !events.isEmpty {
                        lastWrite = .now
                    } else if lastWrite.duration(to: .now) >= limits.eventHeartbeat {
                        // A comment shows the client that the stream is alive, and the server that the client is.
                        try await writer.write(ByteBuffer(string: ":\n\n"))
                        lastWrite = .now
                    }
                    if events.count < Self.batch { try await Task.sleep(for: Self.interval) }
                }
                try await writer.finish(nil)
            })
    }

    private func events(after id: Int64) async throws -> [Stored.ArticleEvent] {
        try await database.writer.read { database in
            try Stored.ArticleEvent.filter(Column("id") > id).order(Column("id")).limit(Self.batch).fetchAll(database)
        }
    }
}
