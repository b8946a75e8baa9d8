import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// `GET /articles/events`: server-sent events (WHATWG HTML, 9.2) named `created`, `changed` and `deleted`, whose data
/// is `{"id": …}`.
///
/// A stream begins after the `Last-Event-ID` of the request, or with what happens next. It ends when the access token
/// expires or the session ends: the client refreshes, and resumes after the last event it has.
struct EventRoutes: Sendable {
    let feed: ArticleFeed
    let authenticator: Authenticator
    let limits: DevBackend.Limits

    var routes: [Route] {
        [Route(.get, "/articles/events") { try await events($0, $1) }]
    }

    private struct Data: Encodable {
        let id: PublicID
    }

    private static let batch = 100

    private func events(_ request: Request, _ context: BackendContext) async throws -> Response {
        let exchange = context.exchange
        _ = try await authenticator.principal(of: request, in: exchange)
        let first: Int64
        if let text = request.headers[.lastEventID], !text.isEmpty {
            guard let id = Int64(text), id >= 0 else {
                throw APIError.validation("Last-Event-ID", "Is not the identifier of an event.")
            }
            first = id
        } else {
            first = try await feed.newest()
        }
        guard feed.hasRoom else { throw APIError.tooManyStreams }
        let (feed, authenticator, limits) = (feed, authenticator, limits)
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: ResponseBody { writer in
                // An identifier without data: a client that reconnects before the first event misses none.
                try await writer.write(
                    ByteBuffer(string: "id: \(first)\nretry: \(limits.eventRetry.wholeMilliseconds)\n\n"))
                var last = first
                let (wakes, release) = feed.wakes(every: limits.eventHeartbeat)
                defer { release() }
                wake: for await _ in wakes {
                    var hasSent = false
                    repeat {
                        let events = try await feed.events(after: last, limit: Self.batch)
                        // No event for a session that has ended.
                        guard (try? await authenticator.principal(of: request, in: exchange)) != nil else { break wake }
                        for event in events { try await writer.write(Self.bytes(of: event, exchange)) }
                        last = events.last?.id ?? last
                        hasSent = hasSent || !events.isEmpty
                        if events.count < Self.batch { break }
                    } while true
                    // A comment shows the client that the stream is alive, and the server that the client is.
                    if !hasSent { try await writer.write(ByteBuffer(string: ":\n\n")) }
                }
                try await writer.finish(nil)
            })
    }

    private static func bytes(of event: Stored.ArticleEvent, _ exchange: Exchange) throws -> ByteBuffer {
        let data = try JSONEncoder.api(exchange.dialect.identifiers).encode(Data(id: PublicID(event.articleID)))
        var buffer = ByteBuffer(string: "id: \(event.id ?? 0)\nevent: \(event.kind)\ndata: ")
        buffer.writeBytes(data)
        buffer.writeString("\n\n")
        return buffer
    }
}
