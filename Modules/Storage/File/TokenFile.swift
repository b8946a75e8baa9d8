import AuthInterface
import Foundation

/// The file of one account: the rules of ``FileTokenStore``, on whatever thread they are called.
struct TokenFile: Sendable {
    /// The most that is read from a file, and so the most that is written to one: 1 MB. A bundle has a few kilobytes.
    static let sizeLimit = 1 << 20

    /// How long a write usually waits for the write of another process.
    static let saveLimit: Duration = .seconds(5)

    let folder: String
    let name: String

    /// A folder without which the whole place is missing, not only the tokens: the user's home.
    let anchor: String?

    /// How long a write waits for the write of another process.
    let writeLimit: Duration

    private let envelope = TokenEnvelope()

    init(folder: String, name: String, anchor: String?, writeLimit: Duration = saveLimit) {
        self.folder = folder
        self.name = name
        self.anchor = anchor
        self.writeLimit = writeLimit
    }

    /// What is stored.
    func load() throws(TokenStoreError) -> TokenBundle? {
        try checkName()
        guard let folder = try PrivateFolder.open(folder) else {
            try checkAnchor()
            return nil
        }
        switch try read(folder) {
        case nil: return nil
        case .bundle(let bundle): return bundle
        case .newer(let version): throw newer(version)
        case .unreadable: throw corrupt
        }
    }

    /// Stores a bundle. `date` names the file that is set aside, if one is.
    func save(_ bundle: TokenBundle, at date: Date) throws(TokenStoreError) {
        try checkName()
        let data = try envelope.encode(bundle)
        guard data.count <= Self.sizeLimit else {
            throw TokenStoreError(.unavailable, reason: "the bundle is larger than \(Self.sizeLimit) bytes")
        }
        try checkAnchor()
        let folder = try PrivateFolder.openOrCreate(folder)
        let lock = try folder.lock(name + ".lock", waitingAtMost: writeLimit)
        defer { lock.release() }
        switch try read(folder) {
        case nil: break
        case .bundle(let stored): try bundle.checkMayReplace(stored)
        case .newer(let version): throw newer(version)
        case .unreadable: try folder.setAside(name, suffix: Self.suffix(at: date))
        }
        try folder.replace(name, with: data)
    }

    /// Removes what is stored, without looking at it.
    func delete() throws(TokenStoreError) {
        try checkName()
        guard let folder = try PrivateFolder.open(folder, isModeChecked: false) else { return try checkAnchor() }
        let lock = try folder.lock(name + ".lock", waitingAtMost: writeLimit)
        defer { lock.release() }
        try folder.remove(name)
    }

    /// Takes the lease if nobody has it.
    func tryLease() throws(TokenStoreError) -> FolderLock? {
        try checkName()
        try checkAnchor()
        return try PrivateFolder.openOrCreate(folder).tryLock(name + ".lease")
    }

    private func read(_ folder: borrowing PrivateFolder) throws(TokenStoreError) -> TokenEnvelope.Reading? {
        switch try folder.read(name, atMost: Self.sizeLimit) {
        case .nothing: nil
        case .bytes(let data): envelope.decode(data)
        case .tooLarge: .unreadable
        }
    }

    private var path: String { (folder as NSString).appendingPathComponent(name) }

    private var corrupt: TokenStoreError {
        TokenStoreError(
            .corrupt,
            reason: "\(path) is not a token file; it is left as it is until you sign in again, and then set aside as "
                + "\(name).corrupt-DATE"
        )
    }

    private func newer(_ version: Int) -> TokenStoreError {
        TokenStoreError(
            .unsupportedVersion,
            reason: "\(path) has version \(version) of the format; update this program, or sign out to remove the file"
        )
    }

    private func checkAnchor() throws(TokenStoreError) {
        guard let anchor, access(anchor, F_OK) != 0 else { return }
        throw .system(SystemCallError(number: errno), "find the home folder", anchor)
    }

    private func checkName() throws(TokenStoreError) {
        guard name.utf8.count > AccountName.limit else { return }
        throw TokenStoreError(.unavailable, reason: "the account name is too long for a file name")
    }

    private static func suffix(at date: Date) -> String {
        ".corrupt-" + date.formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
    }
}
