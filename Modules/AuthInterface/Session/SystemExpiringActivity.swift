import ConcurrencyPrimitives
import Foundation

/// The activities of the system: `ProcessInfo.performExpiringActivity(withReason:using:)` where the system suspends
/// processes (iOS, tvOS, watchOS, visionOS, application extensions included).
///
/// macOS and Linux do not suspend processes: there an activity does nothing and never expires.
///
/// Each activity blocks one of the system's threads until it ends. The call into the system was typechecked against a
/// stub, and was not run on a device.
public struct SystemExpiringActivity: ExpiringActivity {
    /// Calls its second argument with `false` on a thread that may be blocked, and with `true` when the time has run
    /// out.
    typealias Perform = @Sendable (_ reason: String, _ block: @escaping @Sendable (Bool) -> Void) -> Void

    private let perform: Perform?

    /// Creates a view of the system's activities.
    public init() {
        #if canImport(Darwin) && !os(macOS)
        self.init { reason, block in ProcessInfo.processInfo.performExpiringActivity(withReason: reason, using: block) }
        #else
        self.init(perform: nil)
        #endif
    }

    init(perform: Perform?) { self.perform = perform }

    /// Starts an activity, as ``ExpiringActivity/begin(_:onExpiry:)`` says.
    public func begin(_ reason: String, onExpiry: @escaping @Sendable () -> Void) -> ExpiringActivityToken {
        guard let perform else { return ExpiringActivityToken {} }
        let expiry = Locked(Optional(onExpiry))
        let end = DispatchGroup()
        end.enter()
        // The system calls the block with `false`, and a second time, on another thread, with `true` when the process
        // is about to be suspended. When it cannot keep the process running, the call with `true` is the only one. It
        // keeps the process running until the first call has returned, so that call waits for the end of the activity.
        perform(reason) { isExpired in
            // Outside the lock: the closure may end the activity.
            if isExpired { expiry.withLock { $0.take() }?() } else { end.wait() }
        }
        return ExpiringActivityToken {
            _ = expiry.withLock { $0.take() }
            end.leave()
        }
    }
}
