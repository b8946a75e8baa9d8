import Foundation

/// A value behind a lock.
///
/// Hold it for a few instructions and never across a suspension. (`Synchronization.Mutex` needs macOS 15 and iOS 18.)
package final class Locked<Value>: @unchecked Sendable {  // every access to `value` holds `lock`
    private let lock = NSLock()
    private var value: Value

    /// Puts a value behind a lock.
    package init(_ value: sending Value) {
        self.value = value
    }

    /// Runs a closure with exclusive access to the value. It blocks while another caller has it.
    ///
    /// - Parameter body: Reads and changes the value. It must not use the lock again.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
