import AuthInterface
import Foundation

/// The value of `errno` after a call that failed.
struct SystemCallError: Error {
    let number: Int32
}

extension TokenStoreError {
    /// A system call that failed: the store cannot be used now.
    ///
    /// - Parameters:
    ///   - error: The value of `errno`.
    ///   - attempt: What was tried, as in "could not … PATH".
    ///   - path: The file or folder.
    /// - Returns: The error, with code `unavailable`.
    static func system(_ error: SystemCallError, _ attempt: String, _ path: String) -> TokenStoreError {
        TokenStoreError(
            .unavailable,
            reason: "could not \(attempt) \(path): \(String(cString: strerror(error.number)))",
            cause: POSIXErrorCode(rawValue: error.number).map { POSIXError($0) }
        )
    }
}

/// Makes a system call, again and again while a signal interrupts it (`EINTR`).
///
/// - Parameter call: The call. It returns a negative number and sets `errno` when it fails.
/// - Returns: What the call returned.
/// - Throws: The value of `errno`, but for `EINTR`.
@discardableResult
func uninterrupted<Number: SignedInteger>(_ call: () -> Number) throws(SystemCallError) -> Number {
    while true {
        let result = call()
        if result >= 0 { return result }
        let number = errno
        if number != EINTR { throw SystemCallError(number: number) }
    }
}

/// Does something with a file or folder, and says what it was if it fails.
///
/// - Parameters:
///   - attempt: What is tried, as in "could not … PATH".
///   - path: The file or folder.
///   - body: The system calls.
/// - Returns: What `body` returns.
/// - Throws: ``TokenStoreError`` with code `unavailable`.
@discardableResult
func attempt<Value: ~Copyable>(
    _ attempt: String,
    _ path: String,
    _ body: () throws(SystemCallError) -> Value
) throws(TokenStoreError) -> Value {
    do {
        return try body()
    } catch {
        throw .system(error, attempt, path)
    }
}

/// An open file or folder. It is closed with the value.
///
/// All are opened with `O_CLOEXEC`: a child process would otherwise keep a lock of ours after our death.
struct Descriptor: ~Copyable {
    typealias Write = (Int32, UnsafeRawPointer, Int) -> Int

    let number: Int32

    deinit { close(number) }

    /// Leaves the closing to the caller.
    consuming func takeNumber() -> Int32 {
        let number = number
        discard self
        return number
    }

    /// Writes everything, however many calls that takes.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - write: The system call, which may write less than it is asked to.
    /// - Throws: The value of `errno`.
    func writeAll(_ data: Data, with write: Write = { write($0, $1, $2) }) throws(SystemCallError) {
        var rest = data[...]
        while !rest.isEmpty {
            let count = try uninterrupted {
                rest.withUnsafeBytes { bytes in bytes.baseAddress.map { write(number, $0, bytes.count) } ?? 0 }
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Reads from here to the end, or until `limit` bytes are read.
    func read(atMost limit: Int) throws(SystemCallError) -> Data {
        var data = Data(count: limit)
        var filled = 0
        while filled < limit {
            let count = try uninterrupted {
                data[filled...].withUnsafeMutableBytes { bytes in
                    bytes.baseAddress.map { systemRead(number, $0, bytes.count) } ?? 0
                }
            }
            if count == 0 { break }
            filled += count
        }
        return data.prefix(filled)
    }

    /// Waits until everything written is on the disk.
    ///
    /// Apple's `fsync` leaves it in the cache of the drive; `F_FULLFSYNC` does not, where the file system knows it.
    func synchronise() throws(SystemCallError) {
        #if canImport(Darwin)
        if fcntl(number, F_FULLFSYNC) == 0 { return }
        #endif
        try uninterrupted { fsync(number) }
    }

    /// The file system of the open file, as far as the system can name it: the same after it is mounted again.
    func fileSystem() -> UInt {
        var status = statvfs()
        return fstatvfs(number, &status) == 0 ? UInt(status.f_fsid) : 0
    }

    /// What the system knows of the open file.
    func status() throws(SystemCallError) -> stat {
        var status = stat()
        try uninterrupted { fstat(number, &status) }
        return status
    }
}

/// `read(2)`, under a name that no method hides.
private func systemRead(_ number: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(number, bytes, count)
}

/// `open(2)` of what is there.
func systemOpen(_ path: String, _ flags: Int32) -> Int32 {
    open(path, flags)
}
