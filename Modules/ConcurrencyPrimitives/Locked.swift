public import Foundation

/// A value behind a lock.
///
/// Hold it for a few instructions and never across a suspension. (`Synchronization.Mutex` needs macOS 15 and iOS 18.)
///
/// It is inlined into other modules, so that no access looks up types at run time. Value and lock are one allocation.
@usableFromInline
package struct Locked<Value>: @unchecked Sendable {  // every access to the value holds the lock
    /// The value is its header, and the lock its only element.
    @usableFromInline
    final class Storage: ManagedBuffer<Value, pthread_mutex_t> {
        @inlinable
        deinit {
            withUnsafeMutablePointerToElements { _ = pthread_mutex_destroy($0) }
        }
    }

    @usableFromInline let storage: ManagedBuffer<Value, pthread_mutex_t>

    /// Puts a value behind a lock.
    @inlinable
    package init(_ value: sending Value) {
        storage = Storage.create(minimumCapacity: 1) { _ in value }
        storage.withUnsafeMutablePointerToElements { $0.initializeLock() }
    }

    /// Runs a closure with exclusive access to the value. It blocks while another caller has it, and must not use the
    /// lock again.
    ///
    /// - Throws: What `body` throws.
    @inlinable
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        // Both stay where they are for the life of the storage.
        let (value, lock) = storage.withUnsafeMutablePointers { ($0, $1) }
        pthread_mutex_lock(lock)
        defer {
            pthread_mutex_unlock(lock)
            withExtendedLifetime(storage) {}
        }
        return try body(&value.pointee)
    }
}

extension Locked: CustomReflectable {
    /// Shows nothing: the value would be read without the lock, and may be a secret (G17).
    @usableFromInline package var customMirror: Mirror { Mirror(self, children: []) }
}

extension UnsafeMutablePointer<pthread_mutex_t> {
    /// Makes a lock of memory that nothing uses yet.
    @inlinable
    package func initializeLock() {
        initialize(to: pthread_mutex_t())
        #if canImport(Glibc)
        // A lock is held for less time than it takes to put a thread to sleep and to wake it.
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        defer { pthread_mutexattr_destroy(&attributes) }
        pthread_mutexattr_settype(&attributes, CInt(PTHREAD_MUTEX_ADAPTIVE_NP))
        let result = pthread_mutex_init(self, &attributes)
        #else
        let result = pthread_mutex_init(self, nil)
        #endif
        precondition(result == 0, "the system has no memory for a lock")
    }
}
