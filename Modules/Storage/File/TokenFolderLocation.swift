import Foundation

/// Where an application keeps its tokens by default.
struct TokenFolderLocation {
    let folder: URL

    /// A folder that must exist. If it does not, its disk is not mounted, and the tokens are on it.
    let anchor: URL

    /// The usual place on this system.
    ///
    /// On Apple's systems, Application Support. Elsewhere the state folder of the XDG Base Directory Specification
    /// (0.8): tokens belong to this machine, so they are state and not data. Below it a folder of its own, because its
    /// mode must be 0700 whatever else the application keeps.
    static func standard(
        application: String,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> TokenFolderLocation {
        let state = state(environment: environment)
        return TokenFolderLocation(
            folder: state.folder.appendingPathComponent(folderName(for: application)).appendingPathComponent("tokens"),
            anchor: state.anchor
        )
    }

    /// The folder in which the programs of this user keep their state.
    ///
    /// `HOME` and `XDG_STATE_HOME` count when they are absolute paths, whether the folders exist or not: the entry of
    /// the user database is another home, in which tokens must not appear because a disk is missing.
    static func state(environment: [String: String] = ProcessInfo.processInfo.environment) -> TokenFolderLocation {
        #if canImport(Darwin)
        return TokenFolderLocation(folder: .applicationSupportDirectory, anchor: .homeDirectory)
        #else
        let xdg = environment["XDG_STATE_HOME"] ?? ""
        if xdg.hasPrefix("/") {
            let folder = URL(fileURLWithPath: xdg, isDirectory: true)
            return TokenFolderLocation(folder: folder, anchor: folder)
        }
        let variable = environment["HOME"] ?? ""
        let home = URL(fileURLWithPath: variable.hasPrefix("/") ? variable : NSHomeDirectory(), isDirectory: true)
        return TokenFolderLocation(folder: home.appendingPathComponent(".local/state", isDirectory: true), anchor: home)
        #endif
    }

    /// One name, whatever the text: no path, no hidden folder, not empty.
    static func folderName(for application: String) -> String {
        let name = application.replacingOccurrences(of: "/", with: "%2f")
        return name.isEmpty || name.hasPrefix(".") ? "%" + name : name
    }
}
