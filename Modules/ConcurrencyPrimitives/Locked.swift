public import Foundation

/// A value behind a lock.
///
/// Hold it for a few instructions and never across a suspension. (`Synchronization.Mutex` needs macOS 15 and iOS 18.)
///
/// It is inlined into other modules, so that no access looks up types at run time.
@usableFromInline
package final class Locked<Value>: @unchecked Sendable {  // every access to `value` holds `lock`
    @usableFromInline let lock = NSLock()
    @usableFromInline var value: Value

    /// Puts a value behind a lock.
    @inlinable
    package init(_ value: sending Value) {
        self.value = value
    }

    /// Runs a closure with exclusive access to the value. It blocks while another caller has it.
    ///
    /// - Parameter body: Reads and changes the value. It must not use the lock again.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws.
    @inlinable
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
