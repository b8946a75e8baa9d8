#if canImport(notify)
import Dispatch
import notify

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
