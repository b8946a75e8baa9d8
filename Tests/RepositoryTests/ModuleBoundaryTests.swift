import Foundation
import Testing

/// Who imports whom is what the picture of the architecture says, in the code and in the manifests.
@Suite struct ModuleBoundaryTests {
    @Test(arguments: ["Modules", "App/Sources", "Tests", "App/Tests"])
    func `every file imports only what its module may import`(folder: String) throws {
        for file in try SourceFile.all(in: folder) {
            for violation in violations(in: file) { Issue.record("\(violation)") }
        }
    }

    @Test func `every target has a row in the table, and every row a target`() throws {
        let modules = try SourceFile.targets(in: "Modules")
        #expect(try modules.union(SourceFile.targets(in: "App/Sources")) == Set(AllowTable.ours.keys))
        #expect(modules == Set(AllowTable.system.keys))
        let libraries = SourceFile.root.appendingPathComponent("Modules/SystemLibraries").path
        let folders = try FileManager.default.contentsOfDirectory(atPath: libraries).filter { !$0.hasPrefix(".") }
        #expect(Set(folders) == AllowTable.systemLibraries)
    }

    @Test func `a test that imports a neighbour of its module, and code that imports a test, are found`() {
        let test = SourceFile(
            target: "NetworkCoreTests", path: "Tests/NetworkCoreTests/T.swift", source: "import Storage")
        #expect(violations(in: test).first?.contains("Rule: NetworkCoreTests may import only AuthInterface, ") == true)
        let shipped = SourceFile(target: "Storage", path: "Modules/Storage/S.swift", source: "import TestSupport")
        #expect(violations(in: shipped).first?.contains("Rule: Storage may import only AuthInterface, ") == true)
    }

    @Test(arguments: ["Modules", "App/Sources"])
    func `no source is behind a symbolic link, where these tests do not look`(folder: String) throws {
        let base = SourceFile.root.appendingPathComponent(folder)
        let walk = try #require(FileManager.default.enumerator(atPath: base.path))
        let links = walk.compactMap { $0 as? String }.filter { path in
            let values = try? base.appendingPathComponent(path).resourceValues(forKeys: [.isSymbolicLinkKey])
            return values?.isSymbolicLink == true
        }
        #expect(links == [])
    }

    @Test func `a network file that imports the data module is found, whatever the form of the import`() throws {
        let source = try SourceFile.text(of: "Tests/RepositoryTests/Fixtures/NetworkCore/ImportsTheDataModule.txt")
        let marked = source.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            .filter { $0.element.contains("violation") }.map { $0.offset + 1 }
        let file = SourceFile(target: "NetworkCore", path: "Modules/NetworkCore/Violation.swift", source: source)
        let found = violations(in: file)
        #expect(found.map { Int($0.split(separator: ":")[1]) } == marked)
        #expect(marked.count >= 17)
        #expect(
            found.first == """
                Modules/NetworkCore/Violation.swift:2: imports DataAPI. Rule: NetworkCore may import only \
                AuthInterface, ConcurrencyPrimitives. Move the code to a module that may import DataAPI, or pass it \
                in through a protocol. A new arrow is added to AllowTable, Package.swift and the picture in \
                README.md.
                """
        )
    }

    @Test func `the word import in a line of comment, and as the name of an argument, is no import`() {
        let source = "// import DataAPI\n    /// import DataAPI\nimport Foundation\ncall(import: Storage)"
        #expect(ImportScanner.imports(in: source) == [ImportStatement(module: "Foundation", line: 3)])
    }

    private func violations(in file: SourceFile) -> [String] {
        ImportScanner.imports(in: file.source).compactMap { found in
            AllowTable.objection(to: found.module, in: file).map {
                "\(file):\(found.line): imports \(found.module). Rule: \($0)."
            }
        }
    }
}
