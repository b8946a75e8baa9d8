import Foundation
public import NetworkCore

/// A file that is written beside its target and takes the target's place when it is whole.
///
/// Its mode is 0600. Until ``commit(to:)`` the target is as it was; after it the target is the whole new file, also
/// after a loss of power.
final class ReplacementFile: @unchecked Sendable {  // one task writes; `close` is called by `deinit` only
    let url: URL
    private let descriptor: Int32

    /// Creates or opens a file. One that is there can be kept, and is locked then against others, without waiting.
    ///
    /// - Throws: ``NetworkError`` with code `fileFailed`.
    init(
        _ url: URL, keeping: Bool = false, lock: (Int32) -> Bool = { flock($0, LOCK_EX | LOCK_NB) == 0 }
    ) throws(NetworkError) {
        self.url = url
        descriptor = keeping ? try Self.openLocked(url, lock) : try Self.openFile(url, O_EXCL)
    }

    private static func openFile(_ url: URL, _ flag: Int32) throws(NetworkError) -> Int32 {
        let descriptor = open(url.path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flag, 0o600)
        guard descriptor >= 0 else { throw NetworkError(.fileFailed, writing: "created") }
        return descriptor
    }

    /// Opens and locks a file. Between the two, another download may move it onto its target or remove it; then the
    /// name is opened again, so that a file in its place is never written.
    private static func openLocked(_ url: URL, _ lock: (Int32) -> Bool) throws(NetworkError) -> Int32 {
        for _ in 0..<mostOpenings {
            let descriptor = try openFile(url, 0)
            var status = stat()
            // A file with another name elsewhere, or another owner, was not made here.
            guard fstat(descriptor, &status) == 0, status.st_nlink <= 1, status.st_uid == geteuid() else {
                close(descriptor)
                throw NetworkError(.fileFailed, reason: "the partial file is not this program's own")
            }
            guard lock(descriptor) else {
                close(descriptor)
                throw NetworkError(.fileFailed, reason: "another download writes the file")
            }
            var named = stat()
            if fstat(descriptor, &status) == 0, lstat(url.path, &named) == 0, status.st_nlink == 1,
                status.st_dev == named.st_dev, status.st_ino == named.st_ino
            {
                fchmod(descriptor, 0o600)
                return descriptor
            }
            close(descriptor)
        }
        throw NetworkError(.fileFailed, reason: "other downloads write the file")
    }

    /// How often a file that is moved away is opened again.
    private static let mostOpenings = 8

    /// Creates a file with a random name in the folder of a target.
    ///
    /// - Throws: ``NetworkError`` with code `fileFailed`.
    convenience init(beside target: URL) throws(NetworkError) {
        let folder = target.deletingLastPathComponent()
        try self.init(folder.appendingPathComponent(".\(UUID().uuidString).partial"))
    }

    deinit {
        // A child that is being started may share the open file: closing it here would not unlock it.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// The number of bytes.
    var length: Int64 { Int64(max(0, lseek(descriptor, 0, SEEK_END))) }

    /// Writes bytes at the end.
    ///
    /// - Throws: ``NetworkError`` with code `fileFailed`.
    func append(_ data: Data) throws(NetworkError) {
        let isWritten = data.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = write(descriptor, bytes.baseAddress?.advanced(by: written), bytes.count - written)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                written += count
            }
            return true
        }
        guard isWritten else { throw NetworkError(.fileFailed, writing: "written") }
    }

    /// Cuts the file, and goes on at its end.
    ///
    /// - Throws: ``NetworkError`` with code `fileFailed`.
    func cut(to length: Int64) throws(NetworkError) {
        guard ftruncate(descriptor, off_t(length)) == 0, lseek(descriptor, 0, SEEK_END) >= 0 else {
            throw NetworkError(.fileFailed, writing: "cut")
        }
    }

    /// Waits until the disk has the bytes.
    ///
    /// On Apple's systems `fsync` leaves them in the cache of the drive. `F_FULLFSYNC` does not, where it is supported.
    ///
    /// - Throws: ``NetworkError`` with code `fileFailed`.
    func synchronize() throws(NetworkError) {
        #if canImport(Darwin)
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        guard fsync(descriptor) == 0 else { throw NetworkError(.fileFailed, writing: "written") }
    }

    /// Replaces the target with this file.
    ///
    /// What has come to the target's name since the last look is replaced, and never written to: `rename` follows no
    /// link and opens no device.
    ///
    /// - Throws: ``NetworkError`` with code `fileFailed`; the target is unchanged.
    func commit(to target: URL) throws(NetworkError) {
        try synchronize()
        try Self.refuseReplacing(target)
        guard rename(url.path, target.path) == 0 else { throw NetworkError(.fileFailed, writing: "put in its place") }
        let folder = open(target.deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    /// Refuses a target that is there and is no regular file: a folder, a symbolic link, a device, a pipe or a socket.
    ///
    /// - Throws: ``NetworkError`` with code `fileFailed`.
    static func refuseReplacing(_ target: URL) throws(NetworkError) {
        guard target.isFileURL else { throw NetworkError(.fileFailed, reason: "the target is no file URL") }
        var status = stat()
        guard lstat(target.path, &status) == 0 else {
            if errno == ENOENT { return }
            throw NetworkError(.fileFailed, writing: "examined")
        }
        let kind: String
        switch status.st_mode & S_IFMT {
        case S_IFREG: return
        case S_IFDIR: kind = "a folder"
        case S_IFLNK: kind = "a symbolic link; resolve it, if its file is to be replaced"
        case S_IFIFO: kind = "a pipe"
        case S_IFSOCK: kind = "a socket"
        default: kind = "a device"
        }
        throw NetworkError(.fileFailed, reason: "the target is \(kind); only a regular file is replaced")
    }

    /// Removes the file. The target is unchanged.
    func discard() { unlink(url.path) }

    /// Reserves a name in a folder that no other file has, by an empty file: `report.pdf`, `report 2.pdf`.
    ///
    /// - Throws: ``NetworkError`` with code `fileFailed`.
    static func reserve(_ name: String, in folder: URL) throws(NetworkError) -> URL {
        let stem = name.lastIndex(of: ".").map { name[..<$0] } ?? name[...]
        for number in 1...mostNames {
            let mark = number == 1 ? "" : " \(number)"
            let room = ContentDisposition.maximumFileNameLength - mark.utf8.count
            // The first character of the stem has four bytes at most.
            let suffix = name[stem.endIndex...].prefix(bytes: room - min(4, stem.utf8.count))
            let kept = stem.prefix(bytes: room - suffix.utf8.count)
            let url = folder.appendingPathComponent(kept + mark + suffix)
            let descriptor = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            if descriptor >= 0 {
                close(descriptor)
                return url
            }
            guard errno == EEXIST else { throw NetworkError(.fileFailed, writing: "created") }
        }
        throw NetworkError(.fileFailed, reason: "the folder has \(mostNames) files of that name")
    }

    /// The most files of one name in a folder.
    private static let mostNames = 1_000
}

extension NetworkError.Code {
    /// A file for a response cannot be created, written or put in its place.
    public static let fileFailed = Self(rawValue: "fileFailed")
}

extension NetworkError {
    /// The file cannot be written, by `errno`. It names no path.
    fileprivate init(_ code: Code, writing what: String) {
        self.init(code, reason: "the file cannot be \(what): \(String(cString: strerror(errno)))")
    }
}
