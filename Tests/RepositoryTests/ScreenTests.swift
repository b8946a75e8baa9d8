import Foundation
import Testing

/// The screens: the models know no network, the views only bind, and every state of every screen has a test.
@Suite struct ScreenTests {
    private static let screens = "App/Sources/ArticlesUI"

    private static func files(in folder: String) throws -> [SourceFile] {
        let files = try SourceFile.all(in: "App/Sources").filter { $0.path.hasPrefix("\(screens)/\(folder)/") }
        if files.isEmpty { throw SourceFile.FolderIsEmpty(folder: folder) }
        return files
    }

    @Test(arguments: ["Models", "Services", "Strings"])
    func `the models of the screens import neither the network nor the stores nor a view`(folder: String) throws {
        for file in try Self.files(in: folder) where !file.name.hasSuffix("+Picking") {
            let modules = Set(ImportScanner.imports(in: file.source).map(\.module))
            let others = modules.subtracting(["AuthInterface", "DataAPI", "Foundation", "Observation"])
            #expect(others.isEmpty, "\(file): \(others.sorted())")
        }
    }

    @Test func `a view awaits one call of a model, in a task, a refresh or the task of a button, and nothing else`()
        throws
    {
        for file in try Self.files(in: "Views") {
            for line in ViewRule.violations(in: file.source) {
                Issue.record("\(file):\(line): a view only binds. Move the work to its model, and call that.")
            }
        }
    }

    @Test func `work in a view is found, in every form`() {
        let source = """
            .task { await model.load() }
            .task(id: model.items.count) { await model.loadMore() }
            .refreshable { await list.refresh() }
            Button(title) { Task { await model.signIn(with: provider) } }
            .task { for await state in session.states { show(state) } }
            .task { let page = await service.page(); show(page) }
            .task { await model.load(); await model.identify() }
            .onAppear { await model.load() }
            func load() async { }
            .task { try? await model.load() }
            Task.detached { await model.load() }
            .task { await model.pick { await item.data() } }
            async let page = model.page()
            """
        #expect(ViewRule.violations(in: source) == [5, 6, 7, 7, 8, 9, 10, 11, 12, 12, 13])
    }

    // MARK: The table

    private struct Table {
        let states: [String]
        let rows: [(screen: String, cells: [String])]

        /// Reads `| screen | state | … |` and the rows below it, in the section of a heading.
        init(of heading: String) throws {
            let article = SourceFile.root.appendingPathComponent("\(screens)/ArticlesUI.docc/Screens.md")
            let sections = try String(contentsOf: article, encoding: .utf8).components(separatedBy: "\n## ")
            let section = try #require(sections.first { $0.hasPrefix("\(heading)\n") })
            let lines = section.split(separator: "\n").filter { $0.hasPrefix("|") }.map { line in
                line.dropFirst().dropLast().split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            }
            states = Array(try #require(lines.first).dropFirst())
            rows = lines.dropFirst(2).map { ($0[0], Array($0.dropFirst())) }
        }
    }

    private static func testNames(in target: String) throws -> Set<Substring> {
        let tests = try SourceFile.all(in: "App/Tests").filter { $0.target == target }
        return tests.reduce(into: []) { names, file in
            names.formUnion(file.source.matches(of: /@Test[^`]*func `([^`]+)`/).map(\.1))
        }
    }

    @Test func `the table of the screens has every state of each, and a test or a reason in every cell`() throws {
        let table = try Table(of: "The states of the screens")
        #expect(table.states.count == 8)
        #expect(table.rows.count == 8)
        let names = try Self.testNames(in: "ArticlesUITests")
        #expect(names.count > 40)
        for (screen, cells) in table.rows {
            #expect(cells.count == table.states.count, "\(screen)")
            for (state, cell) in zip(table.states, cells) {
                let quoted = cell.matches(of: /“([^”]+)”/).map(\.1)
                #expect(!quoted.isEmpty || cell.hasPrefix("–"), "\(screen), \(state): name a test or say why not")
                for name in quoted where !names.contains(name) {
                    Issue.record("\(screen), \(state): no test is called “\(name)”")
                }
            }
        }
    }

    @Test func `the table of the pages has every screen, and tests that exist`() throws {
        let table = try Table(of: "The same screens in a browser")
        #expect(try table.rows.map(\.screen) == Table(of: "The states of the screens").rows.map(\.screen))
        let names = try Self.testNames(in: "ArticlesWebTests")
        for (screen, cells) in table.rows {
            let quoted = (cells.last ?? "").matches(of: /“([^”]+)”/).map(\.1)
            #expect(!quoted.isEmpty, "\(screen)")
            for name in quoted where !names.contains(name) { Issue.record("\(screen): no test is called “\(name)”") }
        }
    }
}

/// What a view may wait for: `{ await model.call(…) }` as the whole block of `.task`, `.refreshable` or `Task`.
private enum ViewRule {
    private static let owners: Set<String> = ["task", "refreshable", "Task"]

    /// The lines of the other uses of `await` and `async`.
    static func violations(in source: String) -> [Int] {
        let code = CodeToken.tokens(in: source)
        return code.indices.filter { index in
            switch code[index].text {
            case "await": !isOnlyCall(code, at: index)
            case "async": true
            default: false
            }
        }.map { code[$0].line }
    }

    private static func isOnlyCall(_ code: [CodeToken], at index: Int) -> Bool {
        guard index >= 2, code[index - 1].text == "{", let owner = owner(of: index - 1, in: code) else { return false }
        guard owners.contains(code[owner].text), owner + 1 == index - 1 || code[owner + 1].text == "(" else {
            return false
        }
        // `Task.detached` and a function of another type that is called `task` are not meant.
        var position = index + 1
        while position + 1 < code.count, code[position].isWord || code[position].text == "." { position += 1 }
        guard position < code.count, code[position].text == "(" else { return false }
        var depth = 0
        while position < code.count {
            switch code[position].text {
            case "(": depth += 1
            case ")": depth -= 1
            case "{", "await": return false
            default: break
            }
            position += 1
            if depth == 0 { break }
        }
        return position < code.count && code[position].text == "}"
    }

    /// The name before the brace, and before the arguments between them.
    private static func owner(of brace: Int, in code: [CodeToken]) -> Int? {
        var position = brace - 1
        guard position >= 0, code[position].text == ")" else { return position >= 0 ? position : nil }
        var depth = 0
        while position >= 0 {
            if code[position].text == ")" { depth += 1 }
            if code[position].text == "(" { depth -= 1 }
            position -= 1
            if depth == 0 { return position >= 0 ? position : nil }
        }
        return nil
    }
}
