import ConcurrencyPrimitives
import Foundation

/// An exclusive `flock` on a file of its own, until ``release()`` or the death of the process.
///
/// The file with the tokens is never locked: every save replaces it, and two processes would hold locks on two files. A
/// lock file is empty and must not be removed, for the same reason.
final class FolderLock: Sendable {
    private let number: Locked<Int32?>

    init(number: Int32) {
        self.number = Locked(number)
    }

    deinit { release() }

    /// Releases the lock. A second call does nothing.
    func release() {
        number.withLock { number in
            if let open = number {
                // A child forked in between may share the open file: closing it here would not unlock it.
                flock(open, LOCK_UN)
                close(open)
            }
            number = nil
        }
    }
}
