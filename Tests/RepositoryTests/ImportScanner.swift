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
    /// The imports, in the order of the source. The word counts in a literal too, so that no form of it is missed.
    static func imports(in source: String) -> [ImportStatement] {
        let pattern =
            #/
            \bimport (?: \s | //.* | /\*[\s\S]*?\*/ )+
            (?: (?:class|enum|func|let|protocol|struct|typealias|var) \s+ )? `?(\w+)
            /#
        let code = SourceFile.withoutCommentLines(source)
        return code.matches(of: pattern).map { match in
            let line = 1 + code[..<match.range.lowerBound].count { $0 == "\n" }
            return ImportStatement(module: String(match.1), line: line)
        }
    }
}
