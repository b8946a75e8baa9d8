import Foundation
import Testing

/// The table of guarantees in *How refresh works* leads from each guarantee to the tests that prove it.
@Suite struct GuaranteeTableTests {
    private struct Row {
        let guarantee: String
        let tests: [String]
    }

    private static func rows() throws -> [Row] {
        let article = SourceFile.root.appendingPathComponent(
            "Modules/TokenRefresh/TokenRefresh.docc/HowRefreshWorks.md")
        let text = try String(contentsOf: article, encoding: .utf8)
        return text.split(separator: "\n").compactMap { line in
            guard let match = line.firstMatch(of: /^\| (G[0-9]+) \|/) else { return nil }
            return Row(
                guarantee: String(match.1),
                tests: line.matches(of: /“([^”]+)”/).map { String($0.1) }
            )
        }
    }

    @Test func `every guarantee has one row, in order, and at least one test`() throws {
        let rows = try Self.rows()
        #expect(rows.map(\.guarantee) == (1...27).map { "G\($0)" })
        for row in rows { #expect(!row.tests.isEmpty, "\(row.guarantee)") }
    }

    @Test func `every test that the table names exists`() throws {
        let sources = try (SourceFile.all(in: "Tests") + SourceFile.all(in: "App/Tests")).map(\.source)
        #expect(sources.count > 50)
        // What stands between quotation marks, between backticks, and words before a parenthesis.
        let names = sources.reduce(into: Set<Substring>()) { names, source in
            names.formUnion(source.split(separator: "\""))
            names.formUnion(source.split(separator: "`"))
            names.formUnion(source.split(separator: " ").compactMap { $0.split(separator: "(").first })
        }
        for row in try Self.rows() {
            for test in row.tests where !names.contains(Substring(test)) {
                Issue.record("\(row.guarantee): no test is called “\(test)”")
            }
        }
    }
}
