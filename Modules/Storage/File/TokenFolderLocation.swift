import Foundation

/// A folder for the tokens of an application, or for their journals.
struct TokenFolderLocation: Sendable {
    let folder: URL

    /// A folder that must exist. If it does not, its disk is not mounted.
    let anchor: URL

    /// The default folder on this system.
    ///
    /// On Apple's systems it is in Application Support, elsewhere in the state folder of the XDG Base Directory
    /// Specification (0.8), because tokens belong to one machine. It is a folder for tokens only, because its mode must
    /// be 0700.
    static func standard(application: String) -> TokenFolderLocation {
        let (state, name) = (state(), folderName(for: application))
        let folder = state.folder.appendingPathComponent(name).appendingPathComponent("tokens")
        return TokenFolderLocation(folder: folder, anchor: state.anchor)
    }

    /// The folder in which the programs of this user keep their state.
    static func state(environment: [String: String] = ProcessInfo.processInfo.environment) -> TokenFolderLocation {
        #if canImport(Darwin)
        return TokenFolderLocation(folder: .applicationSupportDirectory, anchor: .homeDirectory)
        #else
        return base("XDG_STATE_HOME", standard: ".local/state", environment)
        #endif
    }

    /// A base directory of the XDG specification, `standard` in the home without its variable.
    ///
    /// `HOME` and the variable are used if they are absolute paths, even if the folders do not exist: when a disk
    /// is not mounted, tokens must not be stored in the home of the user database. Where the variable names the
    /// standard folder or another one in the home itself, it is created, as the specification says.
    static func base(_ variable: String, standard: String, _ environment: [String: String]) -> TokenFolderLocation {
        let path = environment["HOME"] ?? ""
        let home = URL(fileURLWithPath: path.hasPrefix("/") ? path : NSHomeDirectory(), isDirectory: true)
        let standard = home.appendingPathComponent(standard, isDirectory: true)
        let xdg = environment[variable] ?? ""
        guard xdg.hasPrefix("/") else { return TokenFolderLocation(folder: standard, anchor: home) }
        let folder = URL(fileURLWithPath: xdg, isDirectory: true).standardizedFileURL
        let isInHome = folder.path == standard.path || folder.deletingLastPathComponent().path == home.path
        return TokenFolderLocation(folder: folder, anchor: isInHome ? home : folder)
    }

    /// A folder name for any text: not a path, not hidden, not empty, and that of no other text.
    static func folderName(for application: String) -> String {
        let name = application.replacingOccurrences(of: "%", with: "%25").replacingOccurrences(of: "/", with: "%2f")
        return name.isEmpty || name.hasPrefix(".") ? "%" + name : name
    }
}
