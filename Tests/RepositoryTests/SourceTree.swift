import Foundation

/// The sources of the workspace, as they lie in the folders.
struct SourceTree {
    struct File: Sendable, CustomStringConvertible {
        let target: String
        /// The path from the folder of all targets, `NetworkCore/Client/NetworkClient.swift`.
        let path: String
        let source: String

        var description: String { path }
    }

    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    struct IsEmpty: Error, CustomStringConvertible {
        let folder: String
        var description: String { "no Swift file was found in \(folder): a test of it would prove nothing" }
    }

    /// Every Swift file of every target in a folder.
    static func files(in folder: String) throws -> [File] {
        let base = root.appendingPathComponent(folder, isDirectory: true)
        let keys: [URLResourceKey] = [.isRegularFileKey]
        let walk = FileManager.default.enumerator(at: base, includingPropertiesForKeys: keys)
        let files = try (walk?.allObjects ?? []).compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }.map {
            url in
            let path = url.standardizedFileURL.path.dropFirst(base.standardizedFileURL.path.count + 1)
            let target = path.prefix { $0 != "/" }
            return File(
                target: String(target), path: String(path), source: try String(contentsOf: url, encoding: .utf8))
        }
        if files.isEmpty { throw IsEmpty(folder: folder) }
        return files.sorted { $0.path < $1.path }
    }

    /// The folders in a folder that hold Swift files: its targets.
    static func targets(in folder: String) throws -> Set<String> {
        Set(try files(in: folder).map(\.target))
    }
}
