/// One `import` in a source file.
struct ImportStatement: Hashable {
    let module: String
    /// The line of the word `import`, from 1.
    let line: Int
}

/// Finds the imports in Swift source as text.
///
/// The compiler reads only the active branch of an `#if`, so it cannot tell what the code imports on another platform
/// or with another trait. The scanner reads all of them.
enum ImportScanner {
    private static let kinds: Set<String> = [
        "class", "enum", "func", "let", "protocol", "struct", "typealias", "var",
    ]

    /// The imports, in the order of the source.
    static func imports(in source: String) -> [ImportStatement] {
        let tokens = CodeToken.tokens(in: source)
        return tokens.indices.compactMap { index in
            guard tokens[index].text == "import", !isLabelOrMember(tokens, index) else { return nil }
            var names = tokens[(index + 1)...].prefix(2)
            if names.count == 2, let kind = names.first, kinds.contains(kind.text) { names.removeFirst() }
            guard let module = names.first, module.isWord else { return nil }
            return ImportStatement(module: module.name, line: tokens[index].line)
        }
    }

    /// `f(import: x)`, `f(a, import: x)` and `x.import` are no imports.
    private static func isLabelOrMember(_ tokens: [CodeToken], _ index: Int) -> Bool {
        index > 0 && [".", "(", ","].contains(tokens[index - 1].text)
    }
}
