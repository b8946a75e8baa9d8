import Foundation

/// One `import` in a source file.
struct ImportStatement: Hashable, CustomStringConvertible {
    let module: String
    let line: Int

    var description: String { "line \(line): import \(module)" }
}

/// Finds the imports in Swift source as text, in every branch of every `#if`.
///
/// The compiler sees the active branches only, so it cannot tell what the code imports on another platform or with
/// another trait. Comments and string literals are passed over.
struct ImportScanner {
    static func imports(in source: String) -> [ImportStatement] {
        var scanner = ImportScanner()
        return source.split(separator: "\n", omittingEmptySubsequences: false).enumerated().flatMap { index, line in
            scanner.code(of: line).split(separator: ";").compactMap { statement in
                module(importedBy: statement).map { ImportStatement(module: $0, line: index + 1) }
            }
        }
    }

    private var commentDepth = 0
    private var isInMultilineString = false

    /// What of a line is code. Blanks stand for comments and the insides of literals.
    private mutating func code(of line: Substring) -> String {
        var code = ""
        var rest = line
        while !rest.isEmpty {
            if commentDepth > 0 {
                skipComment(&rest)
            } else if isInMultilineString {
                guard let end = rest.range(of: "\"\"\"") else { return code }
                isInMultilineString = false
                rest = rest[end.upperBound...]
            } else if rest.hasPrefix("//") {
                return code
            } else if rest.hasPrefix("/*") {
                commentDepth = 1
                rest.removeFirst(2)
            } else if rest.hasPrefix("\"\"\"") {
                isInMultilineString = true
                rest.removeFirst(3)
            } else if rest.hasPrefix("\"") {
                skipString(&rest)
            } else {
                code.append(rest.removeFirst())
            }
        }
        return code
    }

    private mutating func skipComment(_ rest: inout Substring) {
        if rest.hasPrefix("/*") {
            commentDepth += 1
            rest.removeFirst(2)
        } else if rest.hasPrefix("*/") {
            commentDepth -= 1
            rest.removeFirst(2)
        } else {
            rest.removeFirst()
        }
    }

    private func skipString(_ rest: inout Substring) {
        rest.removeFirst()
        while let character = rest.popFirst(), character != "\"" {
            if character == "\\" { _ = rest.popFirst() }
        }
    }

    private static let modifiers: Set<String> = ["public", "package", "internal", "fileprivate", "private"]
    private static let kinds: Set<String> = [
        "class", "enum", "func", "let", "protocol", "struct", "typealias", "var",
    ]

    private static func module(importedBy statement: Substring) -> String? {
        var words = statement.split(whereSeparator: \.isWhitespace)[...]
        while let word = words.first, word.hasPrefix("@") || modifiers.contains(String(word)) { words.removeFirst() }
        guard words.popFirst() == "import" else { return nil }
        if let word = words.first, kinds.contains(String(word)) { words.removeFirst() }
        return words.first.map { String($0.prefix { $0 != "." }).replacingOccurrences(of: "`", with: "") }
    }
}
