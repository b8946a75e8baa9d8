import AuthInterface
import Foundation

/// Notes about token folders on other disks, so that a disk which is not mounted is not taken for an empty folder
/// (G14).
///
/// When tokens are first stored in a folder on another device than the user's state folder, a random identifier is
/// written into it (``markerName``), and with the folder's path into a note in the state folder. A note without its
/// marker means that the disk is not mounted. There are no notes about file systems in memory, which lose their content
/// by design. If the state folder is not writable, a missing disk is not noticed.
struct KnownFolders: Sendable {
    /// The name of the marker in a token folder. No account has this name: it is a hidden file.
    static let markerName = ".latchkey-folder"

    /// The most bytes that are read of a note or a marker.
    private static let sizeLimit = 16_384

    private struct Note: Codable {
        let folder: String
        let id: String
    }

    /// The folder for the state of the user's programs.
    let stateFolder: String

    /// Whether a folder on a device outlives a restart of the system.
    var isDurable: @Sendable (_ device: UInt64) -> Bool = { FileSystemKind(device: $0) != .memory }

    /// The note about a folder, whether it exists or not.
    func note(of folder: String) -> String {
        noteFolder + "/" + CRC64.text(of: folder.utf8) + ".json"
    }

    private var noteFolder: String { stateFolder + "/latchkey/known-folders" }

    /// Checks that a folder is the one that was used before.
    ///
    /// - Parameters:
    ///   - path: The path of the folder.
    ///   - marker: The identifier in the folder that is there now; `nil` without one.
    /// - Throws: ``TokenStoreError`` with code `unavailable` when another folder is expected.
    func check(_ path: String, marker: String?) throws(TokenStoreError) {
        guard let note = read(path), note.id != marker else { return }
        throw TokenStoreError(
            .unavailable,
            reason: "\(path) is not the folder that was used before: mount its disk; if the folder was removed on "
                + "purpose, run: rm \(self.note(of: path).quotedForShell)"
        )
    }

    /// Whether the identifier in a folder is equal to the one in its note.
    func recognizes(_ path: String, marker: String?) -> Bool {
        marker != nil && read(path)?.id == marker
    }

    /// Writes a note about a folder that was checked, if it is on another device than the state folder.
    ///
    /// - Returns: `false` if the next save must try again.
    @discardableResult
    func record(_ folder: borrowing PrivateFolder) -> Bool {
        let device = folder.identity.device
        guard let home = nearestDevice(to: stateFolder), device != home, isDurable(device) else { return true }
        // Two processes must not write two identifiers.
        guard flock(folder.descriptor.number, LOCK_EX | LOCK_NB) == 0 else { return false }
        defer { flock(folder.descriptor.number, LOCK_UN) }
        guard let id = marker(in: folder) ?? makeMarker(in: folder), read(folder.path)?.id != id else { return true }
        let path = folder.path
        let data = try? JSONEncoder().encode(Note(folder: path, id: id))
        guard let data, let notes = try? PrivateFolder.openOrCreate(noteFolder) else { return true }
        try? notes.replace(CRC64.text(of: path.utf8) + ".json", with: data)
        return true
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

    private func read(_ path: String) -> Note? {
        guard let notes = try? PrivateFolder.open(noteFolder, isModeChecked: false),
            case .bytes(let data)? = try? notes.read(CRC64.text(of: path.utf8) + ".json", atMost: Self.sizeLimit),
            let note = try? JSONDecoder().decode(Note.self, from: data), note.folder == path
        else { return nil }
        return note
    }

    private func nearestDevice(to path: String) -> UInt64? {
        var path = path
        var status = stat()
        while stat(path, &status) != 0 {
            guard path.count > 1 else { return nil }
            path = (path as NSString).deletingLastPathComponent
        }
        return UInt64(status.st_dev)
    }
}
