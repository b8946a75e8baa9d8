import Foundation

/// A Swift file of the workspace.
struct SourceFile: Sendable, CustomStringConvertible {
    /// The folder of its target, `NetworkCore`.
    let target: String
    /// The path from the root, `Modules/NetworkCore/Client/NetworkClient.swift`.
    let path: String
    let source: String

    var description: String { path }

    /// The name without the extension.
    var name: String { String(path.split(separator: "/").last?.dropLast(6) ?? "") }

    /// The folder of the workspace.
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    struct FolderIsEmpty: Error, CustomStringConvertible {
        let folder: String
        var description: String { "no Swift file was found in \(folder): a test of it would prove nothing" }
    }

    /// Every Swift file of every target in a folder, but of no folder that a build makes.
    static func all(in folder: String) throws -> [SourceFile] {
        let base = root.appendingPathComponent(folder, isDirectory: true)
        let files = try paths(below: base, withExtension: "swift").map { path in
            let url = base.appendingPathComponent(path)
            let target = String(path.prefix { $0 != "/" })
            return SourceFile(
                target: target, path: "\(folder)/\(path)", source: try String(contentsOf: url, encoding: .utf8))
        }
        if files.isEmpty { throw FolderIsEmpty(folder: folder) }
        return files
    }

    /// The paths of the files with an extension, from a folder, sorted. What a build has made is left out.
    static func paths(below base: URL, withExtension ending: String) -> [String] {
        var paths: [String] = []
        let walk = FileManager.default.enumerator(atPath: base.path)
        while let path = walk?.nextObject() as? String {
            if path.split(separator: "/").last?.hasPrefix(".") == true {
                walk?.skipDescendants()
            } else if path.hasSuffix(".\(ending)") {
                paths.append(path)
            }
        }
        return paths.sorted()
    }

    /// The folders in a folder that hold Swift files: its targets.
    static func targets(in folder: String) throws -> Set<String> {
        Set(try all(in: folder).map(\.target))
    }
}
