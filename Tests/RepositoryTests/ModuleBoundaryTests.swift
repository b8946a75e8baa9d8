import Foundation
import ProcessTesting
import Testing

/// D1, D2, D5: who imports whom is what the picture says.
@Suite struct ModuleBoundaryTests {
    @Test(
        "Every file of every module and of the app imports only what its row allows",
        arguments: ["Modules", "App/Sources"]
    )
    func imports(folder: String) throws {
        for file in try SourceTree.files(in: folder) {
            #expect(violations(in: file) == [], "\(file)")
        }
    }

    @Test("Every target has a row, and every row a target")
    func rowsAreComplete() throws {
        let targets = try SourceTree.targets(in: "Modules").union(SourceTree.targets(in: "App/Sources"))
        #expect(targets == Set(AllowTable.ours.keys))
        #expect(try SourceTree.targets(in: "Modules") == Set(AllowTable.system.keys))
    }

    @Test("The table has no cycle: arrows never turn back")
    func noCycles() {
        var order: [String] = []
        var rest = AllowTable.ours
        while let next = rest.first(where: { row in row.value.allSatisfy { rest[$0] == nil } })?.key {
            order.append(next)
            rest[next] = nil
        }
        #expect(rest.isEmpty, "these depend on each other: \(rest.keys.sorted())")
    }

    @Test("A network file that imports the data module is caught, however it writes the import")
    func deliberateViolation() throws {
        let fixture = SourceTree.root.appendingPathComponent(
            "Tests/RepositoryTests/Fixtures/NetworkCore/ImportsTheDataModule.txt"
        )
        let source = try String(contentsOf: fixture, encoding: .utf8)
        let file = SourceTree.File(target: "NetworkCore", path: "NetworkCore/Violation.swift", source: source)
        #expect(
            violations(in: file) == [
                "line 2: import DataAPI", "line 4: import TokenRefresh", "line 6: import Storage",
                "line 9: import DataAPI", "line 11: import Alamofire", "line 12: import FoundationNetworking",
            ]
        )
    }

    @Test("Module imports in comments and strings are none")
    func noFalseAlarm() {
        let source = """
            // import DataAPI
            /* import Storage /* import TokenRefresh */ import Storage */ import Foundation
            let text = "import DataAPI"; let more = #"x"#
            let quoted = "a \\" import DataAPI"
            """
        #expect(ImportScanner.imports(in: source).map(\.module) == ["Foundation"])
    }

    @Test("The compiler sees no import that the scan has missed")
    func compilerAgrees() async throws {
        for target in try SourceTree.targets(in: "Modules").sorted() {
            let files = try SourceTree.files(in: "Modules").filter { $0.target == target }
            let scanned = Set(files.flatMap { ImportScanner.imports(in: $0.source).map(\.module) })
            let compiled = try await importedModules(of: files)
            #expect(compiled.subtracting(scanned) == [], "in \(target)")
        }
    }

    private func violations(in file: SourceTree.File) -> [String] {
        ImportScanner.imports(in: file.source).filter { found in
            if AllowTable.forbids(found.module, in: file.target) { return true }
            guard let place = AllowTable.confined[found.module], AllowTable.system[file.target] != nil else {
                return false
            }
            return !file.path.hasPrefix(place)
        }
        .map(\.description)
    }

    /// What the compiler itself says the files import.
    private func importedModules(of files: [SourceTree.File]) async throws -> Set<String> {
        let paths = files.map { SourceTree.root.appendingPathComponent("Modules/\($0.path)").path }
        let compiler = try SpawnedProcess(
            "/usr/bin/env",
            ["swiftc", "-emit-imported-modules", "-o", "-"] + paths,
            environment: ProcessInfo.processInfo.environment
        )
        let modules = await compiler.remainingLines()
        #expect(await compiler.end() == .status(0), "the compiler could not read \(files.first?.target ?? "nothing")")
        return Set(modules)
    }
}
