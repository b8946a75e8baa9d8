import Foundation
import Testing

/// The page of field cases leads from each report to the test that plays it.
@Suite struct FieldCaseTests {
    private struct Row {
        let number: Int
        let links: Int
        let cause: String
        let tests: [(suite: String, name: String)]
        /// Why no test plays the case.
        let reasons: [String]
    }

    private static func rows() throws -> [Row] {
        let file = SourceFile.root.appendingPathComponent("Modules/TokenRefresh/TokenRefresh.docc/FieldCases.md")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap { line in
            guard let match = line.wholeMatch(of: /\| ([0-9]+) \| (.+) \| (.+) \| (.+) \|/) else { return nil }
            let reports = match.2.matches(of: /\]\(https:\/\/github\.com\/[\w.-]+\/[\w.-]+\/(issues|pull)\/[0-9]+\)/)
            let tests = match.4.matches(of: /`(\w+)` “([^”]+)”/).map { (String($0.1), String($0.2)) }
            let reasons = match.4.matches(of: /\*(planned|out of scope|no test|cause unknown)\*/).map { String($0.1) }
            return Row(
                number: Int(match.1) ?? 0, links: reports.count, cause: String(match.3), tests: tests, reasons: reasons)
        }
    }

    @Test func `every case has one row, with its reports and a cause`() throws {
        let rows = try Self.rows()
        #expect(rows.map(\.number).sorted() == Array(1...123))
        for row in rows { #expect(row.links > 0 && row.cause.hasSuffix("."), "\(row.number)") }
    }

    @Test func `most cases have a test, and the others say why they have none`() throws {
        let rows = try Self.rows()
        #expect(rows.count { !$0.tests.isEmpty } >= 90)
        for row in rows where row.tests.isEmpty { #expect(!row.reasons.isEmpty, "\(row.number)") }
    }

    @Test func `every test that a case names is in the file of its suite`() throws {
        let files = try SourceFile.all(in: "Tests") + SourceFile.all(in: "App/Tests")
        for row in try Self.rows() {
            for test in row.tests {
                let named = files.filter { $0.name == test.suite && $0.source.contains("struct \(test.suite)") }
                let isThere = named.contains { $0.source.contains("func `\(test.name)`") }
                #expect(isThere, "\(row.number): \(test.suite) has no test “\(test.name)”")
            }
        }
    }

    @Test func `what is planned has a number that no guarantee and no scenario has yet`() throws {
        let file = SourceFile.root.appendingPathComponent("Modules/TokenRefresh/TokenRefresh.docc/FieldCases.md")
        let planned = try String(contentsOf: file, encoding: .utf8).matches(of: /\*planned\* \(([^)]+)\)/).flatMap {
            $0.1.split(separator: ", ").map(String.init)
        }
        for article in ["Guarantees", "Scenarios"] {
            let file = SourceFile.root.appendingPathComponent("Modules/TokenRefresh/TokenRefresh.docc/\(article).md")
            let text = try String(contentsOf: file, encoding: .utf8)
            for number in Set(planned) where text.contains("\n| \(number) |") {
                Issue.record("\(number) is no longer planned: name its test in the rows of FieldCases.md.")
            }
        }
    }
}
