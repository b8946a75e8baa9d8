import Foundation

/// An exclusive `flock` on a file in the folder of a cache, until it is released or the process ends.
final class CacheFolderLock: Sendable {
    let descriptor: Int32

    /// Takes the lock without waiting.
    ///
    /// - Throws: ``ResponseCacheError`` with code `folderInUse` if another cache has the lock, of this process or
    ///   another one; with code `folderUnusable` if the file cannot be opened or locked.
    init(in folder: URL) throws(ResponseCacheError) {
        let path = folder.appendingPathComponent("lock").path
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .unusable(errno) }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let number = errno
            if number == EINTR { continue }
            // `deinit` closes the descriptor: it follows an initializer that throws once all properties are set.
            throw number == EWOULDBLOCK ? .inUse : .unusable(number)
        }
    }

    deinit {
        // A child that is being started may share the open file: closing it here would not unlock it.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
