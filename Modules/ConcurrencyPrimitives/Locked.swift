import Foundation

/// A value behind a lock, for the thin shells of our modules.
///
/// Hold it for a few instructions and never across a suspension. `Synchronization.Mutex` would be the word, but it
/// needs macOS 15 and iOS 18.
package final class Locked<Value>: @unchecked Sendable {  // every access to `value` holds `lock`
    private let lock = NSLock()
    private var value: Value

    /// Puts a value behind a lock.
    ///
    /// - Parameter value: The value.
    package init(_ value: sending Value) {
        self.value = value
    }

    /// Runs a closure with the value, one at a time.
    ///
    /// - Parameter body: What to do with the value.
    /// - Returns: What the closure returns.
    /// - Throws: What the closure throws.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
