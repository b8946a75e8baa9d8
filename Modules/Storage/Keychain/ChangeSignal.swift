import AuthInterface
import Foundation

#if canImport(notify)
import Dispatch
import notify
#endif

/// Notifies the processes that share an item that it may have changed.
protocol ChangeSignal: Sendable {
    /// Notifies all processes that listen, this one included.
    func post()

    /// A stream of the notifications from now on. It ends at once if the system has none.
    var reports: AsyncStream<Void> { get }
}

/// The name of the notification for the changes of an item.
///
/// The names of Darwin notifications are visible to all programs of a device, so this one contains neither the service
/// nor the account. Two items with the same hash cause notifications without a change, which do no harm.
enum ChangeName {
    static func of(_ location: KeychainLocation) -> String {
        let parts = [location.service, location.account, location.accessGroup ?? "", "\(location.keychain)"]
        return "latchkey.tokens-changed." + CRC64.text(of: parts.joined(separator: "\u{0}").utf8)
    }
}

/// No notifications, for systems without Darwin notifications.
struct AbsentChangeSignal: ChangeSignal {
    func post() {}

    var reports: AsyncStream<Void> { AsyncStream { $0.finish() } }
}

#if canImport(notify)
/// A Darwin notification: it reaches every process of the device, without a payload and without an entitlement.
///
/// A suspended process is notified when it runs again, once for all notifications in between.
struct DarwinChangeSignal: ChangeSignal {
    let name: String

    func post() { notify_post(name) }

    var reports: AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            var token: Int32 = 0
            let queue = DispatchQueue(label: "token-item-changes")
            guard notify_register_dispatch(name, &token, queue, { _ in continuation.yield() }) == 0 else {
                return continuation.finish()
            }
            let registered = token
            continuation.onTermination = { _ in notify_cancel(registered) }
        }
    }
}
#endif
