import AuthInterface
import Foundation

extension StoreChoice {
    #if canImport(Security)
    /// The stores that a setting can name.
    public static let names = ["file", "memory"]
    #else
    /// The stores that a setting can name.
    public static let names = ["file", "keyring", "memory"]
    #endif
}

extension AppConfiguration {
    /// The configuration for a session that no setting places: with the desktop's keyring where the session is in it,
    /// or begins and there is one. A session in a file stays there.
    ///
    /// - Parameter isSignIn: Whether a session may begin. Then the folder that `XDG_STATE_HOME` names is made, where it
    ///   is missing (XDG Base Directory Specification 0.8, §3).
    /// - Returns: The configuration.
    public func choosingStore(forSignIn isSignIn: Bool) async -> AppConfiguration {
        let environment = ProcessInfo.processInfo.environment
        if isSignIn, store == .file(folder: nil), let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") {
            // If it fails, the store says why.
            try? FileManager.default.createDirectory(
                atPath: state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        #if canImport(Security)
        return self
        #else
        guard !isStoreNamed, let file, !FileManager.default.fileExists(atPath: file.path) else { return self }
        var other = self
        other.store = .keyring
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
        #endif
    }
}
