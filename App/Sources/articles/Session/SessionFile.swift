import AuthInterface
import Foundation

/// The file that carries a session: mode 0600, with a state that shows after a crash who holds the session.
///
/// ```
/// articles-session 1 moved    \n
/// SHA-256 of the next line\n
/// {"baseURL":"…","bundle":{…}}\n
/// the place of an import that is under way\n
/// ```
/// On a stream the state is `streaming`, and the last line is `moved` once the session has left its store.
/// The state has a fixed width and is changed in place, by one write. The file is locked while it is open.
final class SessionFile {
    /// Where the session is.
    enum State: String {
        /// Still in the store that it leaves, or already moved: the export was interrupted.
        case exporting
        /// In the file.
        case moved
        /// In the file, or already in the store that takes it: the import was interrupted.
        case importing
        /// Written to a stream, which cannot be changed: `moved` if the last line says so, else `exporting`.
        case streaming
    }

    /// The most bytes of a file: 1 MiB. A session has a few kilobytes.
    private static let sizeLimit = 1 << 20
    static let title = "articles-session 1 "
    static let stateLength = 9

    private var path: String
    /// The name that the file gets when it holds a whole session. Until then an export that is killed leaves another
    /// name, which the next one uses.
    private var finalPath: String?
    private let handle: FileHandle
    private(set) var state: State

    private init(_ path: String, _ handle: FileHandle, _ state: State) {
        self.path = path
        self.handle = handle
        self.state = state
    }

    // MARK: Export

    /// Creates the file. One that an interrupted export of the stored session has left is continued.
    ///
    /// - Throws: ``Failure`` when there is another file, or it cannot be created.
    static func create(_ path: String, continuing stored: StoredSession) throws -> SessionFile {
        if try status(of: path) != nil {
            if let file = try? opened(path), file.state == .exporting, let data = try? file.data(), !data.isEmpty {
                try file.checkIsPrivate()
                // Without a whole session the export was killed while it was written.
                guard let left = try? content(of: data, named: path) else { return file }
                if left.hasLeft(stored) || stored.bundle?.session == left.bundle.session { return file }
            }
            throw Failure("\(path) exists already; name another file", .usage)
        }
        let part = partName(of: path)
        let number = Foundation.open(part, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw failure("cannot be created", errno, path, .output) }
        let file = SessionFile(part, FileHandle(fileDescriptor: number, closeOnDealloc: true), .exporting)
        file.finalPath = path
        guard try file.attributes()[.type] as? FileAttributeType == .typeRegular else {
            throw Failure("\(part) is not a regular file; remove it", .output)
        }
        try file.checkIsPrivate()
        // The umask can remove rights only; these two are needed to continue.
        fchmod(number, 0o600)
        try file.lock()
        return file
    }

    private static func partName(of path: String) -> String { path + ".part" }

    private static func status(of path: String) throws -> stat? {
        var status = stat()
        if lstat(path, &status) == 0 { return status }
        guard errno == ENOENT else { throw failure("cannot be created", errno, path, .output) }
        return nil
    }

    /// Writes the session durably, as one that is still in its store.
    ///
    /// - Throws: ``Failure``.
    func write(_ session: MovedSession) throws {
        try attempt("cannot be written") {
            try handle.truncate(atOffset: 0)
            try handle.seek(toOffset: 0)
            try handle.write(contentsOf: Self.text(of: session, .exporting))
            try handle.synchronize()
        }
        try takeFinalName()
        try attempt("cannot be written") { try synchronize() }
        state = .exporting
    }

    /// Gives the file its name, unless another file has got it meanwhile.
    private func takeFinalName() throws {
        guard let name = finalPath else { return }
        if link(path, name) != 0 {
            guard errno != EEXIST else { throw Failure("\(name) exists already; name another file", .usage) }
            // Some file systems have no second names.
            guard rename(path, name) == 0 else { throw Self.failure("cannot be created", errno, name, .output) }
        } else {
            unlink(path)
        }
        (path, finalPath) = (name, nil)
    }

    // MARK: Import

    /// Opens a file that only its owner can read.
    ///
    /// - Throws: ``Failure``.
    static func open(_ path: String) throws -> SessionFile {
        let file = try opened(path) { try $0.checkIsPrivate() }
        // A stream that was redirected to a file.
        if file.state == .moved { try file.set(.moved) }
        return file
    }

    private static func opened(_ path: String, check: (SessionFile) throws -> Void = { _ in }) throws -> SessionFile {
        let number = Foundation.open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else {
            guard errno != ENOENT else { throw Failure("\(path) does not exist; check the path", .missingInput) }
            throw failure("cannot be opened", errno, path, .missingInput)
        }
        let file = SessionFile(path, FileHandle(fileDescriptor: number, closeOnDealloc: true), .moved)
        guard try file.attributes()[.type] as? FileAttributeType == .typeRegular else {
            throw Failure("\(path) is not a regular file", .missingInput)
        }
        try check(file)
        try file.lock()
        file.state = try state(in: file.data(), named: path)
        return file
    }

    private func attributes() throws -> [FileAttributeKey: Any] {
        try attempt("cannot be read") { try FileManager.default.attributesOfItem(atPath: path) }
    }

    private func checkIsPrivate() throws {
        let attributes = try attributes()
        let owner = (attributes[.ownerAccountID] as? NSNumber)?.uint32Value
        let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0o777
        guard owner == geteuid(), mode & 0o077 == 0 else {
            throw Failure(
                "other users can access \(path), so the session may be stolen: sign it out, or run: chmod 600 \(path)",
                .unusableInput)
        }
    }

    /// The session in the file.
    ///
    /// - Throws: ``Failure`` when the file is damaged.
    func content() throws -> MovedSession { try Self.content(of: data(), named: path) }

    /// Notes the place that takes the session, so that no other one takes it too.
    ///
    /// - Throws: ``Failure``.
    func claim(for destination: String) throws {
        guard state != .importing else { return }
        let lines = try data().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let length = lines.prefix(3).reduce(0) { $0 + $1.count + 1 }
        try attempt("cannot be written") {
            // An import that failed may have left its place.
            try handle.truncate(atOffset: UInt64(length))
            try handle.seek(toOffset: UInt64(length))
            try handle.write(contentsOf: Data((destination.filter { !$0.isNewline } + "\n").utf8))
        }
        try set(.importing)
    }

    /// The place of the import that is under way.
    ///
    /// - Throws: ``Failure``.
    func destination() throws -> String {
        let lines = try String(decoding: data(), as: UTF8.self).split(separator: "\n")
        return lines.count > 3 ? String(lines[3]) : "another place"
    }

    /// Changes the state durably.
    ///
    /// - Throws: ``Failure``.
    func set(_ state: State) throws {
        try attempt("cannot be written") {
            try handle.seek(toOffset: UInt64(Self.title.utf8.count))
            try handle.write(contentsOf: Data(Self.padded(state).utf8))
            try synchronize()
        }
        self.state = state
    }

    /// Removes the file.
    ///
    /// - Returns: Whether it is removed.
    @discardableResult
    func remove() -> Bool {
        // An export that was killed as it gave the file its name has left it a second one.
        if let mine = try? Self.status(of: path), let part = try? Self.status(of: Self.partName(of: path)),
            mine.st_ino == part.st_ino, mine.st_dev == part.st_dev
        {
            unlink(Self.partName(of: path))
        }
        return unlink(path) == 0 && Self.synchronizeFolder(of: path)
    }
}

/// The system calls.
extension SessionFile {
    private func data() throws -> Data {
        try attempt("cannot be read") {
            // A large file is refused before any of it is read.
            guard try handle.seekToEnd() <= Self.sizeLimit else {
                throw Failure("\(path) is not a file of 'articles session export'", .unusableInput)
            }
            try handle.seek(toOffset: 0)
            let data = try handle.read(upToCount: Self.sizeLimit + 1) ?? Data()
            guard data.count <= Self.sizeLimit else {
                throw Failure("\(path) is not a file of 'articles session export'", .unusableInput)
            }
            return data
        }
    }

    /// Locks the file, and checks that it still has its name: another process may have imported and removed it.
    private func lock() throws {
        var (mine, now) = (stat(), stat())
        guard flock(handle.fileDescriptor, LOCK_EX | LOCK_NB) == 0, fstat(handle.fileDescriptor, &mine) == 0,
            lstat(path, &now) == 0, mine.st_dev == now.st_dev, mine.st_ino == now.st_ino
        else { throw Failure("another process is using \(path); wait until it has ended", .tryLater) }
    }

    private func synchronize() throws {
        try handle.synchronize()
        guard Self.synchronizeFolder(of: path) else { throw CocoaError(.fileWriteUnknown) }
    }

    private static func synchronizeFolder(of path: String) -> Bool {
        let folder = (path as NSString).deletingLastPathComponent
        let number = Foundation.open(folder.isEmpty ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { return false }
        defer { close(number) }
        // Some file systems cannot synchronize a folder.
        return fsync(number) == 0 || errno == EINVAL || errno == ENOTSUP
    }

    private func attempt<Value>(_ problem: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure("\(path) \(problem); check its folder and the free space", .output)
        }
    }

    private static func failure(_ problem: String, _ number: Int32, _ path: String, _ status: ExitStatus) -> Failure {
        Failure("\(path) \(problem): \(String(cString: strerror(number)))", status)
    }
}
