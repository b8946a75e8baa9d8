import Foundation
import ProcessTesting

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
            ["swiftc", "-frontend", "-emit-imported-modules", "-o", "-"] + traits.flatMap { ["-D", $0] }
                + files.map { SourceFile.root.appendingPathComponent($0.path).path },
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
