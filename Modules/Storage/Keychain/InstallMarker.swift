import AuthInterface
public import Foundation

/// A marker that is removed with the application, unlike the Keychain: a file in the application's container.
///
/// If a ``KeychainTokenStore`` does not find its marker, the installation is new: it removes the items of an earlier
/// installation, then sets the marker. While protected data is not available, and while the marker cannot be read or
/// set, a missing marker proves nothing: the store is *unavailable* and removes nothing.
///
/// - Important: **`UserDefaults` must not be the marker.** iOS starts an application ahead of time, before the first
///   unlock; the defaults of that process are empty, and stay empty when the device is unlocked and protected data is
///   available. The store would take it for a new installation, and sign the user out. Use ``file(at:)``.
/// - Important: **An update that introduces the marker finds it in no existing installation**, and would sign every
///   user out. `isSet` must also check something older that every installation has.
///
/// Give each account a separate marker. If an extension shares the items, keep the marker in the container of the app
/// group; otherwise the extension's first launch ends the session of the application.
public struct InstallMarker: Sendable {
    /// Whether the marker is set. It throws if that is not known.
    public let isSet: @Sendable () throws -> Bool

    /// Sets the marker.
    public let set: @Sendable () throws -> Void

    /// Creates a marker from two closures. Both may block, and are called on a thread that may be blocked.
    ///
    /// ```swift
    /// let marker = InstallMarker.file(at: support.appendingPathComponent("installed"))
    /// InstallMarker(isSet: { try marker.isSet() || database.exists }, set: marker.set)
    /// ```
    ///
    /// - Parameters:
    ///   - isSet: Whether the marker is set. It throws if that is not known, and must not return `false` before the
    ///     first unlock or in a process that was started before it.
    ///   - set: Sets the marker, so that it survives a power failure. The store then calls `isSet` again.
    public init(isSet: @escaping @Sendable () throws -> Bool, set: @escaping @Sendable () throws -> Void) {
        self.isSet = isSet
        self.set = set
    }

    /// An empty file, without data protection, that is on the disk before the first tokens are saved.
    ///
    /// Do not exclude it from backups: without it, a restored device that has kept its Keychain would remove the
    /// session. The file is in Application Support or in the container of an app group. Its folder is created if it
    /// is missing.
    public static func file(at url: URL) -> InstallMarker {
        let file = url.standardizedFileURL
        return InstallMarker(isSet: { try exists(file) }, set: { try create(file) })
    }

    /// Reads the file's status only, which its data protection does not prevent.
    private static func exists(_ file: URL) throws(TokenStoreError) -> Bool {
        try attempt("inspect", file.path) { () throws(SystemCallError) in
            try statusIfExists { lstat(file.path, &$0) } != nil
        }
    }

    private static func create(_ file: URL) throws {
        let folder = try PrivateFolder.openOrCreate(file.deletingLastPathComponent().path, isModeChecked: false)
        try folder.replace(file.lastPathComponent, with: Data())
        #if canImport(Darwin)
        try FileManager.default.setAttributes([.protectionKey: FileProtectionType.none], ofItemAtPath: file.path)
        #endif
    }
}
