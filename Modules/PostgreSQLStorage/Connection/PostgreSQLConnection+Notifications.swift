#if PostgreSQL
import CPostgreSQL

extension PostgreSQLConnection {
    /// The number of the server process at the login. A pooler makes it up.
    var processAtLogin: Int64 { Int64(PQbackendPID(connection)) }

    /// The descriptor that is readable when there are notifications.
    var socket: Int32 { PQsocket(connection) }

    /// Receives the notifications that have arrived, without waiting.
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
