import Foundation

struct SourceFile: Sendable, CustomStringConvertible {
    /// The folder of its target, `NetworkCore`.
    let target: String
    /// The path from the root, `Modules/NetworkCore/Client/NetworkClient.swift`.
    let path: String
    let source: String

    var description: String { path }

    /// The folder of the workspace. A test of a copy sets another.
    @TaskLocal static var root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    struct FolderIsEmpty: Error, CustomStringConvertible {
        let folder: String
        var description: String { "no Swift file was found in \(folder): a test of it would prove nothing" }
    }

    /// The text of a file of the workspace, or of another folder.
    static func text(of path: String, in folder: URL = root) throws -> String {
        try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
    }

    /// Every Swift file of every target in a folder, but of no folder that a build makes.
    static func all(in folder: String) throws -> [SourceFile] {
        let base = root.appendingPathComponent(folder, isDirectory: true)
        let files = try paths(below: base, withExtension: "swift").map { path in
            let url = base.appendingPathComponent(path)
            let target = path.split(separator: "/").map(String.init).first { $0 != "Support" } ?? ""
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

    var lineCount: Int { source.utf8.count { $0 == UInt8(ascii: "\n") } }

    /// The source with as many lines, of which those that are a comment are empty.
    static func withoutCommentLines(_ source: String) -> String {
        source.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.drop { $0 == " " }.hasPrefix("//") ? "" : $0 }
            .joined(separator: "\n")
    }

    /// The folders that hold Swift files, in a folder or in `Support` of it: its targets.
    static func targets(in folder: String) throws -> Set<String> { Set(try all(in: folder).map(\.target)) }
}
