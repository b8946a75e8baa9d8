#if canImport(Security)
import AuthInterface
import Foundation
import Storage

extension StoreChoice {
    /// Creates the store in the Keychain.
    ///
    /// With an access group, tokens that an earlier version stored without it are moved into the group.
    static func keychainStore(service: String, account: String, accessGroup: String?) -> any TokenStore {
        let location = KeychainLocation(service: service, account: account, accessGroup: accessGroup)
        let earlier = KeychainLocation(service: service, account: account)
        let support = URL.applicationSupportDirectory
        try? FileManager.default.createDirectory(at: support, withIntermediateDirectories: true)
        let probe = ProtectedDataProbe(file: support.appendingPathComponent("unlocked"))
        return KeychainTokenStore(at: location, predecessors: accessGroup == nil ? [] : [.bundle(at: earlier)]) {
            await probe.isProtectedDataAvailable()
        }
    }
}
#endif
