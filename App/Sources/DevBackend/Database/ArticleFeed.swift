import Foundation
import GRDB
import NIOConcurrencyHelpers

/// What happened to the articles, in the order of the transactions, for the event stream.
///
/// The events are rows of the database, written with the change itself: a client that was away, or a server that was
/// killed, misses none of the last ``kept``.
final class ArticleFeed: Sendable {
    /// The number of events that are kept. A client that was away for more begins with the oldest of these.
    static let kept: Int64 = 10_000

    private struct State {
        var isClosed = false
        var waiting: [UUID: AsyncStream<Void>.Continuation] = [:]
    }

    private let database: BackendDatabase
    private let limit: Int
    private let state = NIOLockedValueBox(State())

    /// Creates a feed, with the most streams at a time.
    init(database: BackendDatabase, limit: Int) {
        self.database = database
        self.limit = limit
    }

    /// Records what happened. It belongs to the transaction of the change.
    static func record(_ kind: String, _ articleID: Int64, now: Date, in database: Database) throws {
        var event = Stored.ArticleEvent(kind: kind, articleID: articleID, createdAt: now)
        try event.insert(database)
        guard let id = event.id, id > kept else { return }
        try database.execute(sql: "DELETE FROM articleEvent WHERE id <= ?", arguments: [id - kept])
    }

    /// The events after one, oldest first.
    func events(after id: Int64, limit: Int) async throws -> [Stored.ArticleEvent] {
        try await database.writer.read { database in
            try Stored.ArticleEvent.filter(Column("id") > id).order(Column("id")).limit(limit).fetchAll(database)
        }
    }

    /// The identifier of the newest event; 0 without any.
    func newest() async throws -> Int64 {
        try await database.writer.read { database in
            try Int64.fetchOne(database, sql: "SELECT max(id) FROM articleEvent") ?? 0
        }
    }

    /// Wakes every stream.
    func notify() {
        let waiting = state.withLockedValue { Array($0.waiting.values) }
        for continuation in waiting { continuation.yield() }
    }

    /// Ends every stream, and refuses new ones.
    func close() {
        let waiting = state.withLockedValue { state in
            state.isClosed = true
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.finish() }
    }

    /// A sequence that has an element at once, after every ``notify()``, and at the interval. It ends when the feed
    /// closes.
    ///
    /// - Returns: The sequence, and a closure to call when it is no longer read.
    func wakes(every interval: Duration) -> (sequence: AsyncStream<Void>, release: @Sendable () -> Void) {
        let (wakes, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        continuation.yield()
        let id = UUID()
        state.withLockedValue { state in
            if !state.isClosed { state.waiting[id] = continuation } else { continuation.finish() }
        }
        let ticks = Task {
            while (try? await Task.sleep(for: interval)) != nil { continuation.yield() }
        }
        return (
            wakes,
            { [state] in
                ticks.cancel()
                state.withLockedValue { _ = $0.waiting.removeValue(forKey: id) }
            }
        )
    }

    /// Whether another stream may start.
    var hasRoom: Bool { state.withLockedValue { !$0.isClosed && $0.waiting.count < limit } }
}
