import AuthInterface
import Foundation

/// Notes about token folders on other disks, so that a disk which is not mounted is not taken for an empty folder
/// (G14).
///
/// When tokens are first stored in a folder on another device than the user's state folder, a random identifier is
/// written into it (``markerName``), and with the folder's path into a note in the state folder. A note without its
/// marker means that the disk is not mounted. There are no notes about file systems in memory, which lose their content
/// by design. If the state folder is not writable, or belongs to another user, a missing disk is not noticed. A note
/// that cannot be read makes the folder unavailable.
struct KnownFolders: Sendable {
    /// The name of the marker in a token folder. No account has this name: it is a hidden file.
    static let markerName = ".latchkey-folder"

    /// The most bytes that are read of a note or a marker.
    private static let sizeLimit = 16_384

    private struct Note: Codable {
        /// The version of the note. `nil`: the first. A later one is left alone (G36).
        var version: Int?
        let folder: String
        let id: String
    }

    /// What every version of a note has.
    private struct Header: Decodable { let version: Int? }

    /// The folder for the state of the user's programs.
    var stateFolder = TokenFolderLocation.state().folder.path

    /// Whether a folder on a device outlives a restart of the system.
    var isDurable: @Sendable (_ device: UInt64) -> Bool = { FileSystemKind(device: $0) != .memory }

    /// The note about a folder, whether it exists or not.
    func note(of folder: String) -> String { noteFolder + "/" + noteName(of: folder) }

    private func noteName(of folder: String) -> String { CRC64.text(of: folder.utf8) + ".json" }

    private var noteFolder: String { stateFolder + "/latchkey/known-folders" }

    /// Checks that a folder is the one that was used before, by the identifier in it; `nil` without one. Where another
    /// one is expected, or that is not known, it is `unavailable`.
    func check(_ path: String, marker: String?) throws(TokenStoreError) {
        guard let note = try read(path), note.id != marker else { return }
        throw TokenStoreError(
            .unavailable,
            reason: "\(path) is not the folder that was used before: mount its disk; if the folder was removed on "
                + "purpose, run: rm \(self.note(of: path).quotedForShell)")
    }

    /// Whether the identifier in a folder is equal to the one in its note.
    func recognizes(_ path: String, marker: String?) -> Bool {
        guard let marker, let note = try? read(path) else { return false }
        return note.id == marker
    }

    /// Writes a note about a folder that was checked, if it is on another device than the state folder. Returns `false`
    /// if the next save must try again.
    @discardableResult
    func record(_ folder: borrowing PrivateFolder) -> Bool {
        let device = folder.identity.device
        guard let home = FileSystemKind.nearestDevice(to: stateFolder) else { return false }
        guard device != home, isDurable(device) else { return true }
        // Two processes must not write two identifiers.
        guard flock(folder.descriptor.number, LOCK_EX | LOCK_NB) == 0 else { return false }
        defer { flock(folder.descriptor.number, LOCK_UN) }
        guard let id = marker(in: folder) ?? makeMarker(in: folder) else { return false }
        let path = folder.path
        // A note that cannot be read is left alone.
        guard case .success(let note) = Result(catching: { () throws(TokenStoreError) in try read(path) }),
            note?.id != id
        else { return true }
        let data = try? JSONEncoder().encode(Note(folder: path, id: id))
        guard let data, let notes = try? PrivateFolder.openOrCreate(noteFolder) else { return false }
        return (try? notes.replace(noteName(of: path), with: data)) != nil
    }

    /// The identifier in a folder, if there is one that can be read.
    func marker(in folder: borrowing PrivateFolder) -> String? {
        guard case .bytes(let data)? = try? folder.read(Self.markerName, atMost: Self.sizeLimit) else { return nil }
        return String(data: data, encoding: .utf8)
    }

    private func makeMarker(in folder: borrowing PrivateFolder) -> String? {
        let id = UUID().uuidString
        guard (try? folder.replace(Self.markerName, with: Data(id.utf8))) != nil else { return nil }
        return id
    }

    /// The note about a folder; `nil` if it is certain that there is none. One that cannot be read is `unavailable`:
    /// the folder may be that of a missing disk.
    private func read(_ path: String) throws(TokenStoreError) -> Note? {
        let contents: PrivateFolder.Contents
        do throws(TokenStoreError) {
            guard let notes = try PrivateFolder.open(noteFolder, isModeChecked: false) else { return nil }
            contents = try notes.read(noteName(of: path), atMost: Self.sizeLimit)
        } catch {
            if isClosedByAnother { return nil }
            throw unreadable(path, error.reason, error)
        }
        if contents == .nothing { return nil }
        if case .bytes(let data) = contents, let header = try? JSONDecoder().decode(Header.self, from: data),
            let version = header.version, version > 1
        {
            throw TokenStoreError(
                .unsupportedVersion,
                reason: "the note \(note(of: path)), which shows whether the disk of \(path) is mounted, has version "
                    + "\(version), which is not known: update this program")
        }
        guard case .bytes(let data) = contents, let note = try? JSONDecoder().decode(Note.self, from: data),
            note.folder == path
        else { throw unreadable(path, "it is damaged") }
        return note
    }

    /// Whether a folder or file of another user ends the way to the notes, as where a service has the home of root. No
    /// process of this user has written a note behind it.
    private var isClosedByAnother: Bool {
        var (path, status, last) = ("", stat(), stat())
        for name in noteFolder.split(separator: "/") {
            path += "/" + name
            guard stat(path, &status) == 0 else {
                return (errno == EACCES || errno == ENOTDIR) && last.st_uid != geteuid()
            }
            last = status
        }
        return last.st_uid != geteuid()
    }

    private func unreadable(_ path: String, _ why: String, _ cause: (any Error)? = nil) -> TokenStoreError {
        TokenStoreError(
            .unavailable,
            reason:
                "the note that shows whether the disk of \(path) is mounted cannot be read (\(why)); if the disk is "
                + "mounted, run: rm \(note(of: path).quotedForShell)",
            cause: cause)
    }
}
