import Foundation
import Testing

/// Who imports whom is what the picture of the architecture says, in the code and in the manifests.
@Suite struct ModuleBoundaryTests {
    @Test(arguments: ["Modules", "App/Sources"])
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

    @Test func `the arrows of the table have no cycle`() {
        var rest = AllowTable.ours
        while let next = rest.first(where: { row in row.value.allSatisfy { rest[$0] == nil } })?.key {
            rest[next] = nil
        }
        #expect(rest.isEmpty, "these depend on each other: \(rest.keys.sorted())")
    }

    @Test func `a network file that imports the data module is found, whatever the form of the import`() throws {
        let fixture = SourceFile.root.appendingPathComponent(
            "Tests/RepositoryTests/Fixtures/NetworkCore/ImportsTheDataModule.txt")
        let source = try String(contentsOf: fixture, encoding: .utf8)
        let marked = source.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            .filter { $0.element.contains("violation") }.map { $0.offset + 1 }
        let file = SourceFile(target: "NetworkCore", path: "Modules/NetworkCore/Violation.swift", source: source)
        let found = violations(in: file)
        #expect(found.map { Int($0.split(separator: ":")[1]) } == marked)
        #expect(marked.count >= 12)
        #expect(
            found.first == """
                Modules/NetworkCore/Violation.swift:2: imports DataAPI. Rule: NetworkCore may import only \
                AuthInterface, ConcurrencyPrimitives. Move the code to a module that may import DataAPI, or pass it \
                in through a protocol. A new arrow is added to AllowTable.ours, Package.swift and the picture in \
                README.md.
                """
        )
    }

    @Test func `the word import in a comment, a literal, a label or a name is no import`() {
        let source = #####"""
            // import DataAPI
            /* import Storage /* import TokenRefresh */ import Storage */ import Foundation
            let text = "import DataAPI"; let more = #"x"#
            let quoted = "a \" import DataAPI"
            let raw = #"\" \(import Storage) import Storage"#, one = #"""#, two = ##"""
                """# import Storage
                """##
            let nested = "\(name("import Storage", [")": 1])) import Storage"
            let pattern = /" import Storage/, other = #/"/import Storage/#, third = a / b; let quote = "/"
            call(import: Storage, import: Storage)
            func `the files that import Storage`() { module.import Storage }
            """#####
        #expect(ImportScanner.imports(in: source) == [ImportStatement(module: "Foundation", line: 2)])
    }

    @Test(arguments: [[], ["TurboJPEG", "PostgreSQL", "OpenCombine", "AsyncHTTPClient"]])
    func `the compiler sees no import in any file that the scanner does not see`(traits: [String]) async throws {
        let files = try SourceFile.all(in: "Modules") + SourceFile.all(in: "App/Sources")
        #expect(try await CompilerImports(traits: traits).missed(in: files) == [])
    }

    private func violations(in file: SourceFile) -> [String] {
        ImportScanner.imports(in: file.source).compactMap { found in
            AllowTable.objection(to: found.module, in: file).map {
                "\(file):\(found.line): imports \(found.module). Rule: \($0)."
            }
        }
    }
}
