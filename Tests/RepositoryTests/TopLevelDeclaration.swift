/// A type or an extension at the top level of a source file.
struct TopLevelDeclaration: Hashable {
    /// Of an extension of a nested type the first part: `NetworkError` for `NetworkError.Code`.
    let name: String
    let isExtension: Bool
    /// Whether other modules can use it.
    let isPublic: Bool
    let line: Int

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
                if token.text == "}" { isPublic = false }
            case _ where depth > 0: break
            case "public", "package": isPublic = true
            case "import": isPublic = false
            case let word where kinds.contains(word):
                guard index + 1 < tokens.count, tokens[index + 1].isWord, !isPartOfOther(tokens, index) else { break }
                found.append(
                    TopLevelDeclaration(
                        name: tokens[index + 1].name, isExtension: word == "extension", isPublic: isPublic,
                        line: token.line))
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
