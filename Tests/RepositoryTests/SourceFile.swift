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

    /// The folder of the workspace. A test of a copy sets another.
    @TaskLocal static var root = URL(fileURLWithPath: #filePath)
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

    /// The paths of the symbolic links, from a folder, sorted. A walk of the folder does not enter them.
    static func links(below base: URL) -> [String] {
        let paths = FileManager.default.enumerator(atPath: base.path)?.compactMap { $0 as? String } ?? []
        return paths.filter { path in
            let url = base.appendingPathComponent(path)
            return (try? url.resourceValues(forKeys: [.isSymbolicLinkKey]))?.isSymbolicLink == true
        }.sorted()
    }

    /// The source with as many lines, of which those that are a comment are empty.
    static func withoutCommentLines(_ source: String) -> String {
        source.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.drop { $0 == " " }.hasPrefix("//") ? "" : $0 }
            .joined(separator: "\n")
    }

    /// The folders that hold Swift files, in a folder or in `Support` of it: its targets.
    static func targets(in folder: String) throws -> Set<String> {
        Set(try all(in: folder).map(\.target))
    }
}

/// A type or an extension at the top level of a source file: at the left margin, where the formatter puts it.
struct TopLevelDeclaration {
    /// Of an extension of a nested type the first part: `NetworkError` for `NetworkError.Code`.
    let name: String
    let isExtension: Bool
    /// Whether other modules can use it.
    let isPublic: Bool
    let line: Int
    /// To the closing brace.
    let lineCount: Int

    /// The declarations in the order of the source, of every branch of every `#if`.
    static func all(in source: String) -> [TopLevelDeclaration] {
        let pattern = /(\S.*? )??(struct|class|enum|actor|protocol|extension|typealias|macro) (\w+)/
        let lines = SourceFile.withoutCommentLines(source).split(separator: "\n", omittingEmptySubsequences: false)
        return lines.indices.compactMap { index in
            guard let match = lines[index].prefixMatch(of: pattern) else { return nil }
            let modifiers = (match.1 ?? "").split(separator: " ")
            if modifiers.contains("import") { return nil }
            let isOneLine = match.2 == "typealias" || lines[index].hasSuffix("}")
            let end = isOneLine ? index : lines[index...].firstIndex(of: "}") ?? index
            return TopLevelDeclaration(
                name: String(match.3), isExtension: match.2 == "extension",
                isPublic: modifiers.contains("public") || modifiers.contains("package"),
                line: index + 1, lineCount: end - index + 1)
        }
    }
}
