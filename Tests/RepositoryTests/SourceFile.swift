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

    /// The folders that hold Swift files, in a folder or in `Support` of it: its targets.
    static func targets(in folder: String) throws -> Set<String> {
        Set(try all(in: folder).map(\.target))
    }
}

/// A type or an extension at the top level of a source file.
struct TopLevelDeclaration: Hashable {
    /// Of an extension of a nested type the first part: `NetworkError` for `NetworkError.Code`.
    let name: String
    let isExtension: Bool
    /// Whether other modules can use it.
    let isPublic: Bool
    let line: Int
    /// The line of its closing brace.
    private(set) var lastLine: Int

    var lineCount: Int { lastLine - line + 1 }

    private static let kinds: Set<String> = [
        "struct", "class", "enum", "actor", "protocol", "extension", "typealias", "macro",
    ]

    /// The declarations in the order of the source, of every branch of every `#if`.
    static func all(in source: String) -> [TopLevelDeclaration] {
        let tokens = CodeToken.tokens(in: source)
        var depth = 0
        var isPublic = false
        var found: [TopLevelDeclaration] = []
        for (index, token) in tokens.enumerated() {
            switch token.text {
            case "{", "(", "[": depth += 1
            case "}", ")", "]":
                depth -= 1
                if token.text == "}" {
                    isPublic = false
                    if depth == 0, !found.isEmpty { found[found.count - 1].lastLine = token.line }
                }
            case _ where depth > 0: break
            case "public", "package": isPublic = true
            case "import": isPublic = false
            case let word where kinds.contains(word):
                guard index + 1 < tokens.count, tokens[index + 1].isWord, !isPartOfOther(tokens, index) else { break }
                found.append(
                    TopLevelDeclaration(
                        name: tokens[index + 1].name, isExtension: word == "extension", isPublic: isPublic,
                        line: token.line, lastLine: token.line))
                if word == "typealias" { isPublic = false }
            default: break
            }
        }
        return found
    }

    /// `import struct`, `import class`.
    private static func isPartOfOther(_ tokens: [CodeToken], _ index: Int) -> Bool {
        index > 0 && ["import", "."].contains(tokens[index - 1].text)
    }
}
