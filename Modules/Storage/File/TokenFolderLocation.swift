import Foundation

/// The default folder for the tokens of an application.
struct TokenFolderLocation {
    let folder: URL

    /// A folder that must exist. If it does not, the disk with the tokens is not mounted.
    let anchor: URL

    /// The default folder on this system.
    ///
    /// On Apple's systems it is in Application Support, elsewhere in the state folder of the XDG Base Directory
    /// Specification (0.8), because tokens belong to one machine. It is a folder for tokens only, because its mode must
    /// be 0700.
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
    /// `HOME` and `XDG_STATE_HOME` are used if they are absolute paths, even if the folders do not exist: when a disk
    /// is not mounted, tokens must not be stored in the home of the user database. Where `XDG_STATE_HOME` is
    /// `~/.local/state` or another folder in the home itself, it is created, as the specification says.
    static func state(environment: [String: String] = ProcessInfo.processInfo.environment) -> TokenFolderLocation {
        #if canImport(Darwin)
        return TokenFolderLocation(folder: .applicationSupportDirectory, anchor: .homeDirectory)
        #else
        let variable = environment["HOME"] ?? ""
        let home = URL(fileURLWithPath: variable.hasPrefix("/") ? variable : NSHomeDirectory(), isDirectory: true)
        let standard = home.appendingPathComponent(".local/state", isDirectory: true)
        let xdg = environment["XDG_STATE_HOME"] ?? ""
        guard xdg.hasPrefix("/") else { return TokenFolderLocation(folder: standard, anchor: home) }
        let folder = URL(fileURLWithPath: xdg, isDirectory: true).standardizedFileURL
        let isInHome = folder.path == standard.path || folder.deletingLastPathComponent().path == home.path
        return TokenFolderLocation(folder: folder, anchor: isInHome ? home : folder)
        #endif
    }

    /// A folder name for any text: not a path, not hidden, not empty.
    static func folderName(for application: String) -> String {
        let name = application.replacingOccurrences(of: "/", with: "%2f")
        return name.isEmpty || name.hasPrefix(".") ? "%" + name : name
    }
}
