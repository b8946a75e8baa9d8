import AuthInterface
import Foundation

extension PrivateFolder {
    enum Contents: Equatable {
        case nothing
        case bytes(Data)
        case tooLarge
    }

    /// Reads a file, unless it has more bytes than the limit. One on which other users have any right, a symbolic link
    /// and what is not a regular file are `insecure`.
    func read(_ name: String, atMost limit: Int) throws(TokenStoreError) -> Contents {
        guard let file = try open(name) else { return .nothing }
        let path = path(of: name)
        let status = try attempt("inspect", path) { () throws(SystemCallError) in try file.status() }
        try safety.checkOwner(status, path)
        try safety.checkMode(status, path)
        guard status.st_size <= limit else { return .tooLarge }
        let size = Int(status.st_size)
        return .bytes(try attempt("read", path) { () throws(SystemCallError) in try file.read(atMost: size) })
    }

    /// Creates or replaces a file, atomically and durably.
    ///
    /// A new file is written to the disk, renamed over the old one, and the folder is written to the disk. A reader
    /// finds the old file or the new one, also after a crash. The new file has a fixed name until it is renamed, so
    /// that the file of a killed writer is replaced without a search.
    ///
    /// The caller holds the lock for `name`.
    func replace(_ name: String, with data: Data) throws(TokenStoreError) {
        let temporary = Self.temporaryName(of: name)
        do {
            try attempt("write", path(of: temporary)) { () throws(SystemCallError) in
                unlinkat(descriptor.number, temporary, 0)
                let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
                let number = try uninterrupted { openat(descriptor.number, temporary, flags, access.fileMode) }
                let file = Descriptor(number: number)
                try uninterrupted { fchmod(file.number, access.fileMode) }  // the umask may have removed bits
                try file.writeAll(data)
                try file.synchronize()
            }
            try attempt("replace", path(of: name)) { () throws(SystemCallError) in
                try uninterrupted { renameat(descriptor.number, temporary, descriptor.number, name) }
            }
        } catch {
            unlinkat(descriptor.number, temporary, 0)
            throw error
        }
        try synchronizeNames()
    }

    /// Removes a file without reading it, and the temporary file of a killed writer. The mode of the file is not
    /// checked, its type and owner are. The caller holds the lock for `name`.
    func remove(_ name: String) throws(TokenStoreError) {
        unlinkat(descriptor.number, Self.temporaryName(of: name), 0)
        guard let status = try status(of: name) else { return }
        let path = path(of: name)
        if status.st_mode & S_IFMT == S_IFLNK { throw safety.symbolicLink(path) }
        try safety.checkOwner(status, path)
        try attempt("remove", path) { () throws(SystemCallError) in
            try uninterrupted { unlinkat(descriptor.number, name, 0) }
        }
        try synchronizeNames()
    }

    /// Whether the folder has a file whose name ends so. It throws where that is not known.
    func hasFile(endingIn suffix: String) throws(TokenStoreError) -> Bool {
        try attempt("list", path) { () throws(SystemCallError) in
            let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
            let number = try uninterrupted { openat(descriptor.number, ".", flags) }
            guard let list = fdopendir(number) else {
                defer { close(number) }
                throw SystemCallError(number: errno)
            }
            defer { closedir(list) }
            errno = 0
            while let entry = readdir(list) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                if name.hasSuffix(suffix) { return true }
                errno = 0
            }
            guard errno == 0 else { throw SystemCallError(number: errno) }
            return false
        }
    }

    /// The name of a file that is about to be renamed to `name`.
    static func temporaryName(of name: String) -> String { name + ".tmp" }

    var safety: FileSafety { FileSafety(kind: .file, access: access, owner: owner) }

    /// The path of a file in the folder, for messages.
    func path(of name: String) -> String { path + "/" + name }

    /// Opens a file for reading. `nil`: it does not exist.
    private func open(_ name: String) throws(TokenStoreError) -> Descriptor? {
        do {
            // O_NONBLOCK: opening a pipe must not wait for its writer.
            let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
            return try openIfExists { openat(descriptor.number, name, flags) }
        } catch {
            throw error.number == ELOOP ? safety.symbolicLink(path(of: name)) : refusal(of: name, error)
        }
    }

    /// The status of a file or link. `nil`: it does not exist.
    private func status(of name: String) throws(TokenStoreError) -> stat? {
        try attempt("inspect", path(of: name)) { () throws(SystemCallError) in
            try statusIfExists { fstatat(descriptor.number, name, &$0, AT_SYMLINK_NOFOLLOW) }
        }
    }

    /// The error for a file that could not be opened. (Sockets and devices fail before their type is checked.)
    private func refusal(of name: String, _ error: SystemCallError) -> TokenStoreError {
        do {
            if let status = try status(of: name) { try safety.checkOwner(status, path(of: name)) }
        } catch {
            return error
        }
        return .system(error, "open", path(of: name))
    }

    /// Waits until the names in the folder are on the disk. Some file systems do not support or need that.
    private func synchronizeNames() throws(TokenStoreError) {
        do {
            try descriptor.synchronize()
        } catch let error where error.number == EINVAL || error.number == ENOTSUP {
            return
        } catch {
            throw .system(error, "synchronize", path)
        }
    }
}
