import ConcurrencyPrimitives
import Foundation

/// Asks the system to keep this process running while it does work that must not be suspended part-way, such as a
/// refresh that holds the lease of a shared store.
///
/// iOS suspends a process soon after it leaves the foreground. A process that is suspended while it holds a lock in the
/// container of an app group is ended by the system (`0xdead10cc`), and until then no other process gets the lock.
public protocol ExpiringActivity: Sendable {
    /// Starts an activity. It lasts until ``ExpiringActivityToken/end()``, or until the token is dropped.
    ///
    /// - Parameters:
    ///   - reason: What the activity is for, in a few words. The system may log it: it must not contain a secret.
    ///   - onExpiry: Called at most once, on any thread, when the process is about to be suspended or cannot be kept
    ///     running at all, and never after the activity has ended. It must start to release what the activity holds
    ///     and must not block. The caller ends the token as soon as everything is released.
    /// - Returns: The token that ends the activity.
    func begin(_ reason: String, onExpiry: @escaping @Sendable () -> Void) -> ExpiringActivityToken
}

/// Ends an activity that ``ExpiringActivity/begin(_:onExpiry:)`` has started.
public final class ExpiringActivityToken: Sendable {
    private let ending: Locked<(@Sendable () -> Void)?>

    /// Creates a token, for an ``ExpiringActivity`` of your own.
    ///
    /// - Parameter onEnd: Ends the activity. It is called once.
    public init(onEnd: @escaping @Sendable () -> Void) {
        ending = Locked(onEnd)
    }

    deinit { end() }

    /// Ends the activity. It returns at once; a second call does nothing.
    public func end() {
        let onEnd: (@Sendable () -> Void)? = ending.withLock { ending in
            defer { ending = nil }
            return ending
        }
        onEnd?()
    }
}

/// The activities of the system: `ProcessInfo.performExpiringActivity(withReason:using:)` where the system suspends
/// processes (iOS, tvOS, watchOS, visionOS, application extensions included).
///
/// macOS and Linux suspend no process on their own account: there an activity does nothing and never expires.
///
/// Each activity blocks one thread of the system's until it ends. The call into the system was typechecked against a
/// stub, and was not run on a device.
public struct SystemExpiringActivity: ExpiringActivity {
    /// Calls its second argument with `false` on a thread that may be blocked, and with `true` when time is up.
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

    init(perform: Perform?) {
        self.perform = perform
    }

    /// Starts an activity.
    ///
    /// - Parameters:
    ///   - reason: What the activity is for, in a few words, without a secret.
    ///   - onExpiry: Called at most once, when the process is about to be suspended or cannot be kept running at all.
    /// - Returns: The token that ends the activity.
    public func begin(_ reason: String, onExpiry: @escaping @Sendable () -> Void) -> ExpiringActivityToken {
        guard let perform else { return ExpiringActivityToken {} }
        let activity = BlockingActivity(onExpiry: onExpiry)
        perform(reason) { activity.run(isExpired: $0) }
        return ExpiringActivityToken { activity.end() }
    }
}

/// An activity that lasts as long as a block of the system does not return.
///
/// The system calls the block with `false`, and a second time, on another thread, with `true` when the process is about
/// to be suspended. When it cannot keep the process running, the call with `true` is the only one. It keeps the process
/// running until the first call has returned, so that call waits for the end of the activity.
private final class BlockingActivity: @unchecked Sendable {  // every access to the state holds `condition`
    private let condition = NSCondition()
    private var onExpiry: (@Sendable () -> Void)?
    private var isEnded = false

    init(onExpiry: @escaping @Sendable () -> Void) {
        self.onExpiry = onExpiry
    }

    func run(isExpired: Bool) {
        if isExpired { expire() } else { waitForEnd() }
    }

    func end() {
        condition.lock()
        isEnded = true
        onExpiry = nil
        condition.broadcast()
        condition.unlock()
    }

    private func waitForEnd() {
        condition.lock()
        while !isEnded { condition.wait() }
        condition.unlock()
    }

    /// Takes the closure out under the lock and calls it without the lock, because it may end the activity.
    private func expire() {
        condition.lock()
        let onExpiry = onExpiry
        self.onExpiry = nil
        condition.unlock()
        onExpiry?()
    }
}
