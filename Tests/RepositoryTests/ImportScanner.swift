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
