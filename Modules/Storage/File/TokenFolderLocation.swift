import Foundation

/// Where an application keeps its tokens if nobody says otherwise.
struct TokenFolderLocation {
    let folder: URL

    /// A folder that must be there already. If it is not, the disk it is on is missing, and the tokens with it.
    let anchor: URL

    /// The usual place on this system.
    ///
    /// On Apple's systems, Application Support. Elsewhere the state folder of the XDG Base Directory Specification
    /// (0.8): tokens belong to this machine, so they are state and not data; a relative `XDG_STATE_HOME` counts as
    /// none. Below it a folder of its own, because its mode must be 0700 whatever else the application keeps.
    static func standard(application: String) -> TokenFolderLocation {
        #if canImport(Darwin)
        let support = URL.applicationSupportDirectory
        let home = URL.homeDirectory
        #else
        let home = URL(fileURLWithPath: NSHomeDirectory(), isDirectory: true)
        let support = stateFolder(environment: ProcessInfo.processInfo.environment, home: home)
        #endif
        let name = folderName(for: application)
        return TokenFolderLocation(
            folder: support.appendingPathComponent(name).appendingPathComponent("tokens"),
            anchor: home
        )
    }

    static func stateFolder(environment: [String: String], home: URL) -> URL {
        if let path = environment["XDG_STATE_HOME"], path.hasPrefix("/") {
            return URL(fileURLWithPath: path, isDirectory: true)
        }
        return home.appendingPathComponent(".local/state", isDirectory: true)
    }

    /// One name, whatever the text: no path, no hidden folder, not empty.
    static func folderName(for application: String) -> String {
        let name = application.replacingOccurrences(of: "/", with: "%2f")
        return name.isEmpty || name.hasPrefix(".") ? "%" + name : name
    }
}
