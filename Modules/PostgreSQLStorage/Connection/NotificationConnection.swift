#if PostgreSQL
import AuthInterface
import CPostgreSQL
import Dispatch
import Foundation

/// A connection that listens on one channel. No thread waits for it.
final class NotificationConnection: @unchecked Sendable {  // a dispatch source may be cancelled on any thread
    /// The payloads of the notifications. It ends when the connection does.
    let payloads: AsyncStream<String>

    private let source: any DispatchSourceRead

    /// Connects and listens. It blocks the thread.
    ///
    /// A server session behind a pooler is shared: what it listens for reaches another client, or none. A pooler is
    /// recognised by the number of the server process, which is not the one the login named; then nothing is listened
    /// for.
    ///
    /// - Returns: `nil` when there is a pooler in between.
    /// - Throws: ``PostgreSQLFailure``.
    static func open(
        _ place: ConnectionString,
        channel: String,
        limits: PostgreSQLLimits
    ) throws(PostgreSQLFailure) -> NotificationConnection? {
        let connection = try PostgreSQLConnection.open(place, limits: limits)
        let process = try connection.execute(PostgreSQLStatement(text: "SELECT pg_backend_pid()::bigint")).integer(0)
        guard process == connection.processAtLogin else { return nil }
        try connection.execute(script: "LISTEN \"\(channel)\"")
        return NotificationConnection(connection)
    }

    private init(_ connection: PostgreSQLConnection) {
        let (payloads, continuation) = AsyncStream.makeStream(of: String.self)
        self.payloads = payloads
        let queue = DispatchQueue(label: "token-database-changes")
        source = DispatchSource.makeReadSource(fileDescriptor: connection.socket, queue: queue)
        let listener = Listener(connection: connection)
        source.setEventHandler { [source] in
            guard let received = listener.receive() else {
                source.cancel()
                return
            }
            for payload in received { continuation.yield(payload) }
        }
        // The connection is closed once its socket is no longer watched.
        source.setCancelHandler {
            listener.close()
            continuation.finish()
        }
        source.activate()
    }

    deinit { source.cancel() }

    private final class Listener: @unchecked Sendable {  // used on the source's queue only
        private var connection: PostgreSQLConnection?

        init(connection: PostgreSQLConnection) {
            self.connection = connection
        }

        /// - Returns: `nil` when the connection is lost.
        func receive() -> [String]? { connection?.receiveNotifications() }

        func close() { connection = nil }
    }
}
#endif
