import AuthInterface
import Foundation

extension PrivateFolder {
    /// What was found under a name.
    enum Contents: Equatable {
        case nothing
        case bytes(Data)
        case tooLarge
    }

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - name: The file.
    ///   - limit: How many bytes may be read. Of a larger file none is.
    /// - Returns: What is there.
    /// - Throws: ``TokenStoreError`` with code `insecure` when others have any right on the file, or when it is a
    ///   symbolic link or no regular file; `unavailable`.
    func read(_ name: String, atMost limit: Int) throws(TokenStoreError) -> Contents {
        guard let number = try open(name) else { return .nothing }
        let file = Descriptor(number: number)
        let path = path(of: name)
        let status = try attempt("look at", path) { () throws(SystemCallError) in try file.status() }
        try FileSafety.file.checkOwner(status, path)
        try FileSafety.file.checkMode(status, path)
        guard status.st_size <= limit else { return .tooLarge }
        let size = Int(status.st_size)
        return .bytes(try attempt("read", path) { () throws(SystemCallError) in try file.read(atMost: size) })
    }

    /// Puts a file in place of another, or of none, at once and for good.
    ///
    /// The bytes go into a new file (mode 0600) and onto the disk, the new file takes the name, and the name goes onto
    /// the disk. Whoever reads, and whoever comes after a crash, finds the old file or the new one.
    ///
    /// The caller holds the folder's lock for `name`.
    ///
    /// - Throws: ``TokenStoreError`` with code `unavailable`.
    func replace(_ name: String, with data: Data) throws(TokenStoreError) {
        removeLeftovers(of: name)
        let temporary = Self.temporaryName(of: name)
        do {
            try attempt("write", path(of: temporary)) { () throws(SystemCallError) in
                let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
                let number = try uninterrupted { openat(descriptor.number, temporary, flags, 0o600) }
                let file = Descriptor(number: number)
                try uninterrupted { fchmod(file.number, 0o600) }  // whatever the umask
                try file.writeAll(data)
                try file.synchronise()
            }
            try attempt("replace", path(of: name)) { () throws(SystemCallError) in
                try uninterrupted { renameat(descriptor.number, temporary, descriptor.number, name) }
            }
        } catch {
            unlinkat(descriptor.number, temporary, 0)
            throw error
        }
        try synchroniseNames()
    }

    /// Removes a file, whatever is in it, and what killed writers have left of it.
    ///
    /// Its mode does not matter: to take a token away from others is never wrong.
    ///
    /// The caller holds the folder's lock for `name`.
    ///
    /// - Throws: ``TokenStoreError`` with code `insecure` when it is a symbolic link, no regular file or somebody
    ///   else's; `unavailable`.
    func remove(_ name: String) throws(TokenStoreError) {
        removeLeftovers(of: name)
        guard let status = try status(of: name) else { return }
        let path = path(of: name)
        if status.st_mode & S_IFMT == S_IFLNK { throw FileSafety.file.symbolicLink(path) }
        try FileSafety.file.checkOwner(status, path)
        try attempt("remove", path) { () throws(SystemCallError) in
            try uninterrupted { unlinkat(descriptor.number, name, 0) }
        }
        try synchroniseNames()
    }

    /// Gives a file a second name, under which it stays when ``replace(_:with:)`` takes the first one away.
    ///
    /// There is no instant at which the file is gone and its successor not yet there. A file system without links has
    /// such an instant: there the file is renamed.
    ///
    /// - Parameters:
    ///   - name: The file.
    ///   - suffix: What is put behind its name; a number follows if that is taken.
    /// - Throws: ``TokenStoreError`` with code `unavailable`.
    func setAside(_ name: String, suffix: String) throws(TokenStoreError) {
        var aside = name + suffix
        var number = 1
        while try status(of: aside) != nil {
            number += 1
            aside = "\(name)\(suffix)-\(number)"
        }
        try attempt("set aside", path(of: name)) { () throws(SystemCallError) in
            let folder = descriptor.number
            if linkat(folder, name, folder, aside, 0) == 0 { return }
            try uninterrupted { renameat(folder, name, folder, aside) }
        }
    }

    /// The path of a file in the folder, for messages.
    func path(of name: String) -> String {
        (path as NSString).appendingPathComponent(name)
    }

    /// Opens a file for reading. `nil`: there is none.
    private func open(_ name: String) throws(TokenStoreError) -> Int32? {
        do {
            // O_NONBLOCK: a pipe under this name must be found out, not waited for.
            let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
            return try uninterrupted { openat(descriptor.number, name, flags) }
        } catch {
            switch error.number {
            case ENOENT: return nil
            case ELOOP: throw FileSafety.file.symbolicLink(path(of: name))
            default: throw refusal(of: name, error)
            }
        }
    }

    /// What the system knows of a file, without following it. `nil`: there is none.
    private func status(of name: String) throws(TokenStoreError) -> stat? {
        var status = stat()
        do {
            try uninterrupted { fstatat(descriptor.number, name, &status, AT_SYMLINK_NOFOLLOW) }
            return status
        } catch let error where error.number == ENOENT {
            return nil
        } catch {
            throw .system(error, "look at", path(of: name))
        }
    }

    /// Says why a file would not open: sockets and devices without a driver fail before they can be looked at.
    private func refusal(of name: String, _ error: SystemCallError) -> TokenStoreError {
        do {
            if let status = try status(of: name) { try FileSafety.file.checkOwner(status, path(of: name)) }
        } catch {
            return error
        }
        return .system(error, "open", path(of: name))
    }

    /// Waits until the names in the folder are on the disk. Some file systems cannot, and do not need to.
    private func synchroniseNames() throws(TokenStoreError) {
        do {
            try descriptor.synchronise()
        } catch let error where error.number == EINVAL || error.number == ENOTSUP {
            return
        } catch {
            throw .system(error, "synchronise", path)
        }
    }
}
