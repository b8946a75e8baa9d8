#if PostgreSQL
import CPostgreSQL

extension PostgreSQLConnection {
    /// The number of the server process, as the login named it. Behind a pooler it is made up.
    var processAtLogin: Int64 { Int64(PQbackendPID(connection)) }

    /// The descriptor to watch for notifications.
    var socket: Int32 { PQsocket(connection) }

    /// Receives what has arrived, without waiting.
    ///
    /// - Returns: The payloads of the notifications; `nil` when the connection is lost.
    func receiveNotifications() -> [String]? {
        guard PQconsumeInput(connection) == 1 else { return nil }
        var payloads: [String] = []
        while let notification = PQnotifies(connection) {
            defer { PQfreemem(notification) }
            if let payload = notification.pointee.extra { payloads.append(String(cString: payload)) }
        }
        return payloads
    }
}
#endif
