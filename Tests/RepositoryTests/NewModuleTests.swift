import Foundation
import TestSupport
import Testing

/// What `make new-module` lays out obeys the rules. Each test has a copy of the files that it changes.
@Suite struct NewModuleTests {
    private let copy = TemporaryFolder()

    private static let changed = [
        "Package.swift", "README.md", "Documentation/Latchkey.docc/Latchkey.md", ".spi.yml",
        "Tests/RepositoryTests/AllowTable.swift", "Tests/RepositoryTests/Budget.txt",
    ]

    init() throws {
        for path in Self.changed { try copy.write(SourceFile.text(of: path), to: path) }
        for path in [".ci", ".swift-format"] {
            try FileManager.default.copyItem(
                at: SourceFile.root.appendingPathComponent(path), to: copy.url.appendingPathComponent(path))
        }
    }

    @Test func `a new module is in the manifest, the table, the picture and the documents`() async throws {
        #expect(try await newModule(["Orders"]).end == .status(0))
        let manifest = try await SourceFile.$root.withValue(copy.url) { try await Manifest.read(in: ".") }
        #expect(manifest.objections() == [])
        #expect(manifest.products.contains { $0.name == "Orders" })
        let target = try #require(manifest.targets.first { $0.name == "Orders" })
        #expect(target.path == "Modules/Orders")
        #expect(manifest.targets.contains { $0.name == "OrdersTests" && $0.path == "Tests/OrdersTests" })

        let table = try SourceFile.text(of: "Tests/RepositoryTests/AllowTable.swift", in: copy.url)
        let rows = table.matches(of: /(?m)^ +"Orders": \[(.*)\],$/).map { names(in: $0.1) }
        #expect(rows == [Set(target.dependencies.map(\.name)), ["Foundation"]])
        #expect(try SourceFile.text(of: "README.md", in: copy.url).contains("\n                          Orders\n"))
        let landing = try SourceFile.text(of: "Documentation/Latchkey.docc/Latchkey.md", in: copy.url)
        #expect(landing.contains("\n- <doc:/Orders>\n"))
        #expect(try SourceFile.text(of: ".spi.yml", in: copy.url).contains("\n        - Orders\n"))
        let budget = try SourceFile.text(of: "Tests/RepositoryTests/Budget.txt", in: copy.url)
        #expect(budget.contains("Modules/Orders 250\n"))

        let page = try SourceFile.text(of: "Modules/Orders/Orders.docc/Orders.md", in: copy.url)
        let test = try SourceFile.text(of: "Tests/OrdersTests/OrderServiceTests.swift", in: copy.url)
        #expect(page.hasPrefix("# ``Orders``\n\n"))
        for sample in Markdown.blocks(of: "swift", in: page) {
            #expect(Markdown.words(of: test).contains(Markdown.words(of: sample)))
        }
    }

    @Test func `a package of a team gets the module, and a manifest or the lines for its own`() async throws {
        let package = copy.url.appendingPathComponent("MyApp")
        #expect(try await newModule(["Orders", "--into", "MyApp"]).end == .status(0))
        let manifest = try await SourceFile.$root.withValue(package) { try await Manifest.read(in: ".") }
        #expect(manifest.products.map(\.name) == ["Orders"])
        #expect(manifest.targets.map(\.name) == ["Orders", "OrdersTests"])
        let endpoints = try SourceFile.text(of: "Sources/Orders/Endpoint+Orders.swift", in: package)
        let service = try SourceFile.text(of: "Sources/Orders/NetworkOrderService.swift", in: package)
        #expect(!endpoints.contains("public ") && service.contains("public struct NetworkOrderService"))
        let lint = try await run(["swift", "format", "lint", "--strict", "--recursive", "MyApp"])
        #expect(lint.end == .status(0), "\(lint.output)")

        let written = try SourceFile.text(of: "Package.swift", in: package)
        let second = try await newModule(["Billing", "LineItem", "--into", "MyApp"])
        #expect(second.end == .status(0) && second.output.contains("\n.library(name: \"Billing\", targets:"))
        #expect(try SourceFile.text(of: "Package.swift", in: package) == written)
        #expect(try await newModule(["Orders", "--into", "MyApp"]).end == .status(1))
        for path in Self.changed {
            #expect(try SourceFile.text(of: path, in: copy.url) == SourceFile.text(of: path), "\(path)")
        }
    }

    @Test(arguments: [["Orders"], ["Billing", "LineItem"]])
    func `the files of a new module obey the rules of all others`(arguments: [String]) async throws {
        #expect(try await newModule(arguments).end == .status(0))
        let lint = try await run(
            ["swift", "format", "lint", "--strict", "--recursive", "Package.swift", "Modules", "Tests"])
        #expect(lint.end == .status(0), "\(lint.output)")
        try SourceFile.$root.withValue(copy.url) {
            for folder in ["Modules", "Tests"] {
                try HouseRulesTests().`no comment is wider than 120 columns`(folder: folder)
                try HouseRulesTests().`no test sleeps, and no module but by a clock`(folder: folder)
            }
            let files = try SourceFile.all(in: "Modules")
            let imported = Set(files.flatMap { ImportScanner.imports(in: $0.source).map(\.module) })
            #expect(imported == ["NetworkCore"])
            #expect(!files.contains { $0.source.localizedCaseInsensitiveContains("parcel") })
        }
    }

    @Test func `an item of two words is spelled as code, comments and paths spell it`() async throws {
        #expect(try await newModule(["Billing", "LineItem"]).end == .status(0))
        let source = try SourceFile.text(of: "Modules/Billing/Endpoint+LineItems.swift", in: copy.url)
        #expect(source.contains("/// The line items of the signed-in user"))
        #expect(source.contains(#"func lineItem(_ id: LineItem.ID) -> Self { .get("line-items/\(id)") }"#))
    }

    @Test(arguments: [
        [], ["orders"], ["Order"], ["../Orders"], ["DataAPI", "Item"], ["Storage", "Item"], ["OrderService", "Order"],
    ])
    func `a name that no module can have is refused, and nothing is written`(arguments: [String]) async throws {
        let refused = try await newModule(arguments)
        #expect(refused.end == .status(1))
        #expect(refused.output.hasPrefix("new-module: "))
        for path in Self.changed {
            #expect(try SourceFile.text(of: path, in: copy.url) == SourceFile.text(of: path), "\(path)")
        }
        #expect(!FileManager.default.fileExists(atPath: copy.url.appendingPathComponent("Modules").path))
    }

    private func newModule(_ arguments: [String]) async throws -> (end: SpawnedProcess.End?, output: String) {
        try await run([".ci/new-module"] + arguments)
    }

    private func run(_ command: [String]) async throws -> (end: SpawnedProcess.End?, output: String) {
        let process = try SpawnedProcess(
            "/bin/sh", ["-c", #"cd "$1" && shift && exec "$@" 2>&1"#, "sh", copy.url.path] + command,
            environment: ProcessInfo.processInfo.environment)
        let output = await process.remainingLines().joined(separator: "\n")
        return (await process.end(), output)
    }

    private func names(in list: Substring) -> Set<String> {
        Set(list.matches(of: /"(\w+)"/).map { String($0.1) })
    }
}
