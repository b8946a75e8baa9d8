#if PostgreSQL
import CPostgreSQL
import Dispatch
import Foundation

/// A connection that listens on one channel. It blocks no thread.
final class NotificationConnection: @unchecked Sendable {  // a dispatch source may be cancelled on any thread
    /// The payloads of the notifications. The stream ends with the connection.
    let payloads: AsyncStream<String>

    private let source: any DispatchSourceRead

    /// Connects and listens; `nil` behind a pooler. It blocks the thread.
    ///
    /// A pooler shares a server session between clients, so that its notifications reach another client or none. A
    /// pooler is recognized by the number of the server process, which differs from that of the login.
    static func open(
        _ connection: ConnectionString, channel: String, limits: PostgreSQLLimits
    ) throws(PostgreSQLFailure) -> NotificationConnection? {
        let opened = try PostgreSQLConnection.open(connection, limits: limits)
        let process = try opened.execute(PostgreSQLStatement(text: "SELECT pg_backend_pid()::bigint")).integer(0)
        guard process == opened.processAtLogin else { return nil }
        try opened.execute(script: "LISTEN \"\(channel)\"")
        return NotificationConnection(opened)
    }

    private init(_ connection: PostgreSQLConnection) {
        let (payloads, continuation) = AsyncStream.makeStream(of: String.self)
        self.payloads = payloads
        let queue = DispatchQueue(label: "token-database-changes")
        source = DispatchSource.makeReadSource(fileDescriptor: connection.socket, queue: queue)
        nonisolated(unsafe) var open: PostgreSQLConnection? = connection  // used on the source's queue only
        source.setEventHandler { [source] in
            guard let received = open?.receiveNotifications() else {
                source.cancel()
                return
            }
            for payload in received { continuation.yield(payload) }
        }
        // The connection must not be closed before its socket is no longer watched.
        source.setCancelHandler {
            open = nil
            continuation.finish()
        }
        source.activate()
    }

    deinit { source.cancel() }
}

extension PostgreSQLConnection {
    /// The number of the server process at the login. A pooler makes it up.
    var processAtLogin: Int64 { Int64(PQbackendPID(connection)) }

    /// The descriptor that is readable when there are notifications.
    var socket: Int32 { PQsocket(connection) }

    /// Receives the payloads that have arrived, without waiting; `nil` when the connection is lost.
    ///
    /// All that can be read is read, to the end of a connection that was closed: a dispatch source on Linux calls its
    /// handler for the last time when the peer has hung up, also when more can be read.
    func receiveNotifications() -> [String]? {
        var payloads: [String] = []
        repeat {
            guard PQconsumeInput(connection) == 1 else { return nil }
            while let notification = PQnotifies(connection) {
                defer { PQfreemem(notification) }
                if let payload = notification.pointee.extra { payloads.append(String(cString: payload)) }
            }
        } while isReadable
        return payloads
    }

    /// Whether something can be read without waiting, or the connection was closed.
    private var isReadable: Bool {
        var watched = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, 0) > 0
    }
}
#endif
