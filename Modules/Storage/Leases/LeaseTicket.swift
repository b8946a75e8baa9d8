import Foundation

/// A position in the queue of the processes that wait for a lease, in the order of their arrival.
///
/// The queue is an empty file. A waiter locks one byte of it, at the offset that is the time since the system started,
/// in nanoseconds: all processes of a host share that clock. The waiter is first when no byte before its own is locked.
/// The kernel unlocks the byte when the waiter dies.
///
/// The locks are those of an open file (`F_OFD_SETLK`), which exclude each other inside a process too. Without them in
/// the system or the file system, no queue exists, and the order is random.
final class LeaseTicket: Sendable {
    private let file: Int32
    private let position: Int64

    /// Joins the end of the queue, whose file is made if it is missing. `nil` without a queue.
    init?(in folder: borrowing PrivateFolder, _ name: String) {
        guard let queue = try? folder.open(lockFile: name) else { return nil }
        file = queue.takeNumber()
        var position = Self.now
        while true {
            var lock = Self.lock(from: position, length: 1)
            if fcntl(file, Self.setLock, &lock) == 0 { break }
            guard errno == EAGAIN || errno == EACCES else {
                close(file)
                return nil
            }
            position += 1
        }
        self.position = position
    }

    deinit { close(file) }

    /// The position of the first waiter. `nil`: this one is first.
    var first: Int64? { Self.firstPosition(in: file, from: 0, to: position) }

    /// The number of waiters before this one, `limit` at most.
    func waitersAhead(atMost limit: Int) -> Int {
        var count = 0
        var start: Int64 = 0
        while count < limit, let next = Self.firstPosition(in: file, from: start, to: position) {
            count += 1
            start = next + 1
        }
        return count
    }

    /// Whether no process waits.
    static func isQueueEmpty(in folder: borrowing PrivateFolder, _ name: String) -> Bool {
        let file = openat(folder.descriptor.number, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return true }
        defer { close(file) }
        return firstPosition(in: file, from: 0, to: .max) == nil
    }

    private static func firstPosition(in file: Int32, from start: Int64, to end: Int64) -> Int64? {
        guard start < end else { return nil }
        var lock = lock(from: start, length: end - start)
        // The system reports any of the locks: each report narrows the search for the first one.
        var found: Int64?
        while fcntl(file, getLock, &lock) == 0, lock.l_type != Int16(F_UNLCK) {
            found = Int64(lock.l_start)
            guard let found, found > start else { break }
            lock = Self.lock(from: start, length: found - start)
        }
        return found
    }

    private static func lock(from start: Int64, length: Int64) -> flock {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = off_t(start)
        lock.l_len = off_t(length)
        return lock
    }

    /// The time since the system started, in nanoseconds.
    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    // `F_OFD_GETLK` and `F_OFD_SETLK`, which the C modules of Swift do not export.
    #if canImport(Darwin)
    private static let (setLock, getLock): (Int32, Int32) = (90, 92)
    #else
    private static let (setLock, getLock): (Int32, Int32) = (37, 36)
    #endif
}
