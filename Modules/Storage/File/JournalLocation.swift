import Foundation

/// A folder that may have a journal.
typealias JournalLocation = TokenFolderLocation

extension JournalLocation {
    static let fileSuffix = ".json"

    /// The default folders of an application, the preferred one first.
    static func standard(
        _ application: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> [JournalLocation] {
        let name = TokenFolderLocation.folderName(for: application)
        var locations = [TokenFolderLocation.state(environment: environment)]
        #if !canImport(Darwin)
        locations += [("XDG_CONFIG_HOME", ".config"), ("XDG_DATA_HOME", ".local/share")].map { variable, standard in
            TokenFolderLocation.base(variable, standard: standard, environment)
        }
        #endif
        return locations.map { base in
            let folder = base.folder.appendingPathComponent(name).appendingPathComponent("journal")
            return JournalLocation(folder: folder, anchor: base.anchor)
        }
    }

    /// The folders that may have the journal of tokens in files. A new one is made in the first: a default one on
    /// another disk, then on theirs, then the folder beside them. Where their disk is absent, their path is on that of
    /// its mount point: the folder stays the same. Tokens in memory do not outlive a restart of the system, and neither
    /// does what is remembered of them.
    ///
    /// Which folder is the first depends on calls that may fail. Which ones are listed does not.
    static func apart(from tokens: URL, _ standard: [JournalLocation]) -> [JournalLocation] {
        let tokens = tokens.standardizedFileURL
        let parent = tokens.deletingLastPathComponent()
        let isInStateFolder = parent == standard[0].folder.deletingLastPathComponent().standardizedFileURL
        let own =
            isInStateFolder
            ? standard[0] : JournalLocation(folder: tokens.appendingPathExtension("journal"), anchor: parent)
        let device = FileSystemKind.nearestDevice(to: tokens.path)
        let isThere = FileManager.default.fileExists(atPath: tokens.path)
        let isInMemory = isThere && device.map({ !isDurable($0) }) ?? true
        let durable = (isInMemory ? [] : standard).compactMap { location in
            FileSystemKind.nearestDevice(to: location.folder.path).flatMap { device in
                isDurable(device) ? (location: location, device: device) : nil
            }
        }
        let sorted = durable.filter { $0.device != device } + durable.filter { $0.device == device }
        var paths: Set<String> = []
        return (sorted.map(\.location) + [own] + standard).filter { paths.insert($0.folder.path).inserted }
    }

    private static func isDurable(_ device: UInt64) -> Bool {
        [.disk, .network].contains(FileSystemKind(device: device))
    }
}
