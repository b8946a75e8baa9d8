import Testing

@Suite struct BudgetTests {
    @Test func `no folder is over its ceiling, and every module has one`() throws {
        let budget = try Budget(SourceFile.text(of: "Tests/RepositoryTests/Budget.txt"))
        for objection in try budget.objections() { Issue.record("\(objection)") }
        let listed = Set(budget.ceilings.map(\.folder))
        for module in try SourceFile.targets(in: "Modules") where !listed.contains("Modules/\(module)") {
            Issue.record("Budget.txt has no line for Modules/\(module).")
        }
    }
}

/// How large folders may become.
private struct Budget {
    enum Count: String {
        case lines, long, `public`

        func number(in files: [SourceFile]) -> (Int, String) {
            switch self {
            case .lines: (files.reduce(0) { $0 + $1.lineCount }, "lines of Swift")
            case .long: (files.count { $0.lineCount > 250 }, "files of more than 250 lines")
            case .public: (files.reduce(0) { $0 + $1.publicDeclarations }, "public declarations")
            }
        }
    }

    struct Ceiling {
        let count: Count
        let folder: String
        let limit: Int
    }

    struct UnreadableLine: Error { let line: Substring }

    let ceilings: [Ceiling]

    init(_ text: String) throws {
        ceilings = try text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let words = line.split(separator: " ")
            guard words.count == 3, let count = Count(rawValue: String(words[0])), let limit = Int(words[2]) else {
                throw UnreadableLine(line: line)
            }
            return Ceiling(count: count, folder: String(words[1]), limit: limit)
        }
    }

    func objections() throws -> [String] {
        try ceilings.compactMap { ceiling in
            let files: [SourceFile]
            do { files = try SourceFile.all(in: ceiling.folder) } catch let error as SourceFile.FolderIsEmpty {
                return "\(ceiling.folder): \(error)"
            }
            let (number, things) = ceiling.count.number(in: files)
            guard number > ceiling.limit else { return nil }
            return """
                \(ceiling.folder) has \(number) \(things), of \(ceiling.limit): take something out, or raise the ceiling in \
                Tests/RepositoryTests/Budget.txt by what another one is lowered in the same commit, and say why.
                """
        }
    }
}

extension SourceFile {
    /// The number of public declarations, without imports and extensions.
    fileprivate var publicDeclarations: Int {
        let declaration = /\bpublic (?!import\b|extension\b)/
        return SourceFile.withoutCommentLines(source).split(separator: "\n").count { $0.contains(declaration) }
    }
}
