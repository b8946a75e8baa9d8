#if canImport(Security)
import AuthInterface
import Foundation
import Storage

extension StoreChoice {
    /// Creates the store in the Keychain.
    ///
    /// With an access group, tokens that an earlier version stored without it are moved into the group. Tokens that an
    /// earlier installation left are removed: the Keychain outlives the application.
    static func keychainStore(service: String, account: String, accessGroup: String?) -> any TokenStore {
        let location = KeychainLocation(service: service, account: account, accessGroup: accessGroup)
        let earlier = KeychainLocation(service: service, account: account)
        let support = URL.applicationSupportDirectory
        try? FileManager.default.createDirectory(at: support, withIntermediateDirectories: true)
        let unlocked = support.appendingPathComponent("unlocked")
        let probe = ProtectedDataProbe(file: unlocked)
        return KeychainTokenStore(
            at: location, predecessors: accessGroup == nil ? [] : [.bundle(at: earlier)],
            installMarker: marker(of: account, in: support, olderThan: unlocked)
        ) {
            await probe.isProtectedDataAvailable()
        }
    }

    /// A marker of its own for each account. Installations from before the marker have the file of the probe, which is
    /// looked for now: the probe creates it in a new installation too.
    private static func marker(of account: String, in folder: URL, olderThan file: URL) -> InstallMarker {
        let isOlder = FileManager.default.fileExists(atPath: file.path)
        let name = account.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let marker = InstallMarker.file(at: folder.appendingPathComponent("installed-\(name)"))
        return InstallMarker(isSet: { try isOlder || marker.isSet() }, set: marker.set)
    }
}
#endif
