import Foundation
import TestSupport

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

    /// What looks like an import after a semicolon, in literals and comments too: one that the scanner misreads as a
    /// part of a literal is on the line of that literal, after a semicolon.
    static func importsAfterSemicolons(in source: String) -> [ImportStatement] {
        let pattern = /;[^;]*\bimport\s+(?:(?:class|enum|func|let|protocol|struct|typealias|var)\s+)?`?(\w+)/
        return source.split(separator: "\n", omittingEmptySubsequences: false).enumerated().flatMap { index, line in
            line.matches(of: pattern).map { ImportStatement(module: String($0.1), line: index + 1) }
        }
    }

    /// `f(import: x)`, `f(a, import: x)` and `x.import` are no imports.
    private static func isLabelOrMember(_ tokens: [CodeToken], _ index: Int) -> Bool {
        index > 0 && [".", "(", ","].contains(tokens[index - 1].text)
    }
}

/// What the compiler says that files import: on this platform, with some traits.
struct CompilerImports {
    let traits: [String]

    /// The imports that the compiler sees and the scanner does not, as `path: module`.
    ///
    /// The compiler prints one list for all the files it is given. So for each module it is asked once about all files
    /// in which the scanner has not seen that module: if the module is in that list, one of them was misread.
    func missed(in files: [SourceFile]) async throws -> [String] {
        let scanned = files.map { (file: $0, modules: Set(ImportScanner.imports(in: $0.source).map(\.module))) }
        var missed: [String] = []
        for module in try await modules(of: files).sorted() {
            let without = scanned.filter { !$0.modules.contains(module) }.map(\.file)
            guard try await modules(of: without).contains(module) else { continue }
            for file in without where try await modules(of: [file]).contains(module) {
                missed.append("\(file): \(module)")
            }
        }
        return missed
    }

    /// The modules that at least one of the files imports.
    func modules(of files: [SourceFile]) async throws -> Set<String> {
        guard !files.isEmpty else { return [] }
        let compiler = try SpawnedProcess(
            "/usr/bin/env",
            ["swiftc", "-frontend", "-swift-version", "6", "-emit-imported-modules", "-o", "-"]
                + traits.flatMap { ["-D", $0] } + files.map { SourceFile.root.appendingPathComponent($0.path).path },
            environment: ProcessInfo.processInfo.environment
        )
        let modules = Set(await compiler.remainingLines())
        guard await compiler.end() == .status(0) else { throw CannotRead(files: files.map(\.path)) }
        return modules
    }

    struct CannotRead: Error {
        let files: [String]
    }
}
