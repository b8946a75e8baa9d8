import AuthInterface
import Composition
import Foundation

/// A session on a stream, such as standard output into a pipe.
///
/// A stream cannot be changed, so its parts are written when they have become true: first the session, which cannot be
/// imported yet, and once its store has ended it, the line that allows the import. A process that is killed between
/// them leaves a session that can be continued as a file (`articles session export FILE`), and never two holders.
extension SessionFile {
    /// Writes the session, as one that is still in its store.
    ///
    /// - Throws: ``Failure``.
    static func startStream(_ session: MovedSession, on descriptor: Int32) throws {
        // A reader that has gone is an error of the write.
        signal(SIGPIPE, SIG_IGN)
        try write(text(of: session, .streaming), to: descriptor)
    }

    /// Writes that the session has left its store.
    ///
    /// - Throws: ``Failure``.
    static func endStream(on descriptor: Int32) throws {
        try write(Data("\(State.moved.rawValue)\n".utf8), to: descriptor)
    }

    private static func write(_ data: Data, to descriptor: Int32) throws {
        do {
            try FileHandle(fileDescriptor: descriptor).write(contentsOf: data)
        } catch {
            throw Failure("the output cannot be written; the session stays", .output)
        }
        // A pipe has nothing to synchronize.
        guard fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP else {
            throw Failure("the output cannot be written; the session stays", .output)
        }
    }

    /// Stores a session that has arrived without the line that allows its import: it may have no other holder.
    ///
    /// - Returns: The path of the file, which only this user can read.
    /// - Throws: ``Failure``.
    static func keep(_ data: Data, in folder: String) throws -> String {
        try? FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let path = "\(folder)/interrupted-\(UUID().uuidString.prefix(8).lowercased()).session"
        try PrivateFile(path).write(data)
        return path
    }
}
