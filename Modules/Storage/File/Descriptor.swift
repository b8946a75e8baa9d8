import Foundation

/// An open file or folder. It is closed with the value.
///
/// All are opened with `O_CLOEXEC`: otherwise a child process could keep a lock after this process has ended.
struct Descriptor: ~Copyable {
    typealias Write = (Int32, UnsafeRawPointer, Int) -> Int

    let number: Int32

    deinit { close(number) }

    /// Returns the number. The caller closes it.
    consuming func takeNumber() -> Int32 {
        let number = number
        discard self
        return number
    }

    /// Writes all bytes, by a system call that may write fewer than requested.
    func writeAll(_ data: Data, with write: Write = { write($0, $1, $2) }) throws(SystemCallError) {
        var rest = data[...]
        while !rest.isEmpty {
            let count = try uninterrupted {
                rest.withUnsafeBytes { bytes in bytes.baseAddress.map { write(number, $0, bytes.count) } ?? 0 }
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Reads to the end of the file, `limit` bytes at most.
    func read(atMost limit: Int) throws(SystemCallError) -> Data {
        var data = Data(count: limit)
        var filled = 0
        while filled < limit {
            let count = try uninterrupted {
                data[filled...].withUnsafeMutableBytes { bytes in
                    bytes.baseAddress.map { Foundation.read(number, $0, bytes.count) } ?? 0
                }
            }
            if count == 0 { break }
            filled += count
        }
        return data.prefix(filled)
    }

    /// Waits until everything written is on the disk.
    ///
    /// On Apple's systems `fsync` leaves it in the cache of the drive. `F_FULLFSYNC` does not, but not every file
    /// system supports it.
    func synchronize() throws(SystemCallError) {
        #if canImport(Darwin)
        if fcntl(number, F_FULLFSYNC) == 0 { return }
        #endif
        try uninterrupted { fsync(number) }
    }

    /// The identifier of the file system, which is the same after it is mounted again. 0: none.
    func fileSystem() -> UInt {
        var status = statvfs()
        return fstatvfs(number, &status) == 0 ? UInt(status.f_fsid) : 0
    }

    /// The status of the open file.
    func status() throws(SystemCallError) -> stat {
        var status = stat()
        try uninterrupted { fstat(number, &status) }
        return status
    }
}

/// `open(2)` without a mode, for files that exist.
func systemOpen(_ path: String, _ flags: Int32) -> Int32 { open(path, flags) }
