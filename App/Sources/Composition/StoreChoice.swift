import AuthInterface
package import Foundation
import Storage

/// Where the session is stored.
package enum StoreChoice: Sendable, Hashable {
    /// In a file of this user, in a folder; `nil` is the system's usual one.
    case file(folder: URL?)

    /// In memory, for the lifetime of the process.
    case memory

    #if canImport(Security)
    /// In the Keychain, in an item of this service and access group; `nil` is the program's own group.
    case keychain(service: String, accessGroup: String?)

    private static let system: [String: StoreChoice] = [:]
    private static let systemName = "the Keychain"
    #else
    /// In the desktop's keyring.
    case keyring

    private static let system = ["keyring": StoreChoice.keyring]
    private static let systemName = "the keyring"
    #endif

    /// The stores that a setting can name.
    package static var names: [String] { named.keys.sorted() }

    /// The stores by those names. A file is in the usual folder.
    static let named = ["file": StoreChoice.file(folder: nil), "memory": .memory].merging(system) { $1 }

    func makeJournal(in journals: URL?, account: String) -> FileSessionJournal? {
        guard self != .memory else { return nil }
        let application = AppConfiguration.applicationName
        guard case .file(let folder) = self else {
            return FileSessionJournal(application: application, account: account, storeName: Self.systemName)
        }
        let tokens = folder ?? FileTokenStore(application: application).file.deletingLastPathComponent()
        if let journals { return FileSessionJournal(folder: journals, account: account, storeName: tokens.path) }
        return FileSessionJournal(application: application, account: account, storeName: tokens.path, apartFrom: tokens)
    }

    func makeStore(account: String) -> any TokenStore {
        switch self {
        case .file(let folder?): return FileTokenStore(folder: folder, account: account)
        case .file(nil): return FileTokenStore(application: AppConfiguration.applicationName, account: account)
        case .memory: return MemoryTokenStore()
        #if canImport(Security)
        case .keychain(let service, let group):
            return Self.keychainStore(service: service, account: account, accessGroup: group)
        #else
        case .keyring:
            return SecretServiceTokenStore(application: AppConfiguration.applicationName, account: account)
        #endif
        }
    }
}

extension AppConfiguration {
    /// The configuration for a session that no setting places: with the desktop's keyring where the session is in it,
    /// or begins and there is one. A session in a file stays there.
    ///
    /// Where a session may begin, the folder that `XDG_STATE_HOME` names is made if it is missing (XDG Base Directory
    /// Specification 0.8, §3).
    package func choosingStore(forSignIn isSignIn: Bool) async -> AppConfiguration {
        let environment = ProcessInfo.processInfo.environment
        if isSignIn, store == .file(folder: nil), let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") {
            // If it fails, the store says why.
            try? FileManager.default.createDirectory(
                atPath: state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        guard let keyring = StoreChoice.named["keyring"], !isStoreNamed, let file,
            !FileManager.default.fileExists(atPath: file.path)
        else { return self }
        var other = self
        other.store = keyring
        // The store in the keyring has locks beside the file.
        let names = try? FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path)
        if names?.contains(where: { $0.hasPrefix("\(file.lastPathComponent).keyring") }) == true { return other }
        let hasBus = environment["DBUS_SESSION_BUS_ADDRESS"] != nil || environment["XDG_RUNTIME_DIR"] != nil
        guard isSignIn, hasBus else { return self }
        do {
            _ = try await other.makeStore().load()
            return other
        } catch {
            return self
        }
    }
}

#if canImport(Security)
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
