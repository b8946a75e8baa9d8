import AuthInterface
public import Foundation

/// Something that is removed with the application, unlike the Keychain: a file in the application's container.
///
/// A ``KeychainTokenStore`` that has one, and does not find it, is in a fresh installation: it removes the items that
/// an earlier one has left, then sets the marker. A marker that is found is believed at once. One that is not found
/// is believed only if protected data is available; until then, and while it cannot be read or set, the store is
/// *unavailable* and removes nothing.
///
/// - Important: **`UserDefaults` must not be the marker.** iOS starts an application ahead of time, before the first
///   unlock; the defaults of that process are empty, and stay empty when the device is unlocked and protected data is
///   available. The store would take it for a fresh installation, and sign the user out. Use ``file(at:)``.
/// - Important: **An update that brings the marker in finds it in no installation there is**, and would sign every user
///   out. Let `isSet` look at something older as well that all of them have.
///
/// Give each account a marker of its own. Where an extension shares the items, keep the marker in what they share (the
/// container of the app group), or the extension's first launch ends the session of the application.
public struct InstallMarker: Sendable {
    /// Whether the marker is there. It throws if it cannot say.
    public let isSet: @Sendable () throws -> Bool

    /// Makes the marker.
    public let set: @Sendable () throws -> Void

    /// Creates a marker of your own. Both closures may block, and are called on a thread that may be blocked.
    ///
    /// ```swift
    /// let marker = InstallMarker.file(at: support.appendingPathComponent("installed"))
    /// InstallMarker(isSet: { try marker.isSet() || database.exists }, set: marker.set)
    /// ```
    ///
    /// - Parameters:
    ///   - isSet: Whether the marker is there. It throws if it cannot say, and must not say no before the first unlock
    ///     or in a process that was started before it.
    ///   - set: Makes the marker, so that it survives a power failure. The store asks afterwards whether it is there.
    public init(
        isSet: @escaping @Sendable () throws -> Bool,
        set: @escaping @Sendable () throws -> Void
    ) {
        self.isSet = isSet
        self.set = set
    }

    /// An empty file, without data protection, that is on the disk before the first tokens are saved.
    ///
    /// Do not exclude it from backups: restored without it, a device that kept its Keychain would remove the session.
    ///
    /// - Parameter url: The file, in Application Support or in the container of an app group. Its folder is made when it
    ///   is missing.
    /// - Returns: The marker.
    public static func file(at url: URL) -> InstallMarker {
        let file = url.standardizedFileURL
        return InstallMarker(isSet: { try exists(file) }, set: { try create(file) })
    }

    /// Only the name is looked at: it can be read whatever the protection of the file.
    private static func exists(_ file: URL) throws(TokenStoreError) -> Bool {
        var status = stat()
        do {
            try uninterrupted { lstat(file.path, &status) }
            return true
        } catch let error where error.number == ENOENT {
            return false
        } catch {
            throw .system(error, "look at", file.path)
        }
    }

    private static func create(_ file: URL) throws {
        let path = file.deletingLastPathComponent().path
        try makeFolder(path)
        guard let folder = try PrivateFolder.open(path, isModeChecked: false) else {
            throw TokenStoreError.system(SystemCallError(number: ENOENT), "open the folder", path)
        }
        try folder.replace(file.lastPathComponent, with: Data())
        #if canImport(Darwin)
        try FileManager.default.setAttributes([.protectionKey: FileProtectionType.none], ofItemAtPath: file.path)
        #endif
    }

    private static func makeFolder(_ path: String) throws(TokenStoreError) {
        try attempt("make the folder", path) { () throws(SystemCallError) in try PrivateFolder.create(path) }
    }
}
