import Foundation
import NIOConcurrencyHelpers

/// The file of `articles session follow`: an access token for other tools, replaced whole, for its owner or the group
/// of its folder to read.
struct FollowedTokenFile: Sendable {
    private let path: String
    /// The group that may read it, that of its folder. `nil`: none.
    private let group: gid_t?
    private let isRemoved = NIOLockedValueBox(false)

    private var temporary: String { path + ".tmp" }

    /// Checks the place: a folder of this user that no other user may write, and no file but one of an earlier run.
    ///
    /// - Throws: ``Failure`` with the command that fixes it.
    init(_ path: String, isGroupReadable: Bool) throws {
        self.path = URL(fileURLWithPath: path).standardizedFileURL.path
        let folder = (self.path as NSString).deletingLastPathComponent
        var status = stat()
        guard stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw Failure("\(folder) is not a folder; make it: mkdir -m 700 \(folder)", .output)
        }
        group = isGroupReadable ? status.st_gid : nil
        guard status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
            throw Failure(
                "another user can replace files in \(folder); name a folder of yours, or run: chmod go-w \(folder)",
                .output)
        }
        guard lstat(self.path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(), status.st_mode & 0o137 == 0 else {
            throw Failure("\(path) is not a file of 'articles session follow'; name another one", .output)
        }
    }

    /// Writes a token, in place of an earlier one.
    ///
    /// - Throws: ``Failure``. An earlier file is unchanged.
    func write(_ token: String) throws {
        try isRemoved.withLockedValue { isRemoved in
            guard !isRemoved else { return }
            unlink(temporary)
            let number = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard number >= 0 else { throw failure(errno) }
            defer { close(number) }
            let data = Data((token + "\n").utf8)
            let count = data.withUnsafeBytes { Foundation.write(number, $0.baseAddress, $0.count) }
            // The group first: that of this process may be one whose members must not read it.
            let isShared = group.map { fchown(number, uid_t.max, $0) == 0 && fchmod(number, 0o640) == 0 } ?? true
            guard count == data.count, isShared, fsync(number) == 0, rename(temporary, path) == 0 else {
                let number = errno
                unlink(temporary)
                throw failure(number)
            }
        }
    }

    /// Removes the file. A later token may be written again.
    func remove() {
        unlink(temporary)
        unlink(path)
    }

    /// Removes the file for good: a write under way in another task does not bring it back.
    func discard() {
        isRemoved.withLockedValue { isRemoved in
            isRemoved = true
            remove()
        }
    }

    private func failure(_ number: Int32) -> Failure {
        Failure("\(path) cannot be written: \(String(cString: strerror(number)))", .output)
    }
}
