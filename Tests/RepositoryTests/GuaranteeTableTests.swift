import Foundation
import Testing

/// The tables of the guarantees, the scenarios and the field cases lead from each number to the tests that prove it.
@Suite struct GuaranteeTableTests {
    private struct Row {
        let number: String
        let tests: [String]
        /// The guarantees and scenarios that the last column names.
        let numbers: [String]
    }

    private static func rows(of article: String) throws -> [Row] {
        let text = try SourceFile.text(of: "Modules/TokenRefresh/TokenRefresh.docc/\(article).md")
        return text.split(separator: "\n").compactMap { line in
            guard let match = line.firstMatch(of: /^\| ([GS]?[0-9]+(?:, [0-9]+)*) \|/) else { return nil }
            // The last column: a cause may quote a server.
            let proof = line.split(separator: "|").last ?? ""
            return Row(
                number: String(match.1), tests: proof.matches(of: /“([^”]+)”/).map { String($0.1) },
                numbers: proof.replacing(/“[^”]+”/, with: "").matches(of: /\b[GS][0-9]+\b/).map { String($0.0) })
        }
    }

    @Test func `every guarantee has one row, in order, and at least one test`() throws {
        let rows = try Self.rows(of: "Guarantees")
        #expect(rows.map(\.number) == (1...38).map { "G\($0)" })
        for row in rows { #expect(!row.tests.isEmpty || !row.numbers.isEmpty, "\(row.number)") }
    }

    @Test func `every scenario has one row, in order, and a test that is named by its number`() throws {
        let rows = try Self.rows(of: "Scenarios")
        #expect(rows.map(\.number) == (1...30).map { "S\($0)" })
        let names = try Self.names()
        for row in rows where row.number != "S20" {
            #expect(names.contains { $0.hasPrefix("\(row.number): ") }, "\(row.number)")
        }
    }

    @Test func `every number that the tables name is that of a guarantee or a scenario`() throws {
        let numbers = try Set(["Guarantees", "Scenarios"].flatMap(Self.rows).map(\.number))
        for row in try ["Guarantees", "FieldCases"].flatMap(Self.rows) {
            #expect(numbers.isSuperset(of: row.numbers), "\(row.number)")
        }
    }

    /// The names of tests, suites, and laws of the simulation.
    private static func names() throws -> Set<Substring> {
        let sources = try (SourceFile.all(in: "Tests") + SourceFile.all(in: "App/Tests")).map(\.source)
        #expect(sources.count > 50)
        return sources.reduce(into: []) { names, source in
            names.formUnion(source.matches(of: /func `([^`]+)`/).map(\.1))
            names.formUnion(source.matches(of: /@Suite\(\s*"([^"]+)"/).map(\.1))
            names.formUnion(source.matches(of: /case \w+ = "([^"]+)"/).map(\.1))
        }
    }

    @Test func `every test that the tables name exists`() throws {
        let names = try Self.names()
        for row in try ["Guarantees", "FieldCases"].flatMap(Self.rows) {
            for test in row.tests where !names.contains(Substring(test)) {
                Issue.record("\(row.number): no test is called “\(test)”")
            }
        }
    }

    @Test func `every dialect of a server has a test that exists`() throws {
        let rows = try SourceFile.text(of: "Modules/DataAPI/DataAPI.docc/Dialects.md").split(separator: "\n")
            .filter { $0.hasPrefix("| ") && !$0.hasPrefix("| printed |") }
        #expect(rows.count > 12)
        let names = try Self.names()
        for row in rows {
            let tests = row.matches(of: /“([^”]+)”/).map(\.1)
            #expect(!tests.isEmpty, "\(row)")
            for test in tests { #expect(names.contains(test), "no test is called “\(test)”") }
        }
    }

    @Test func `every preset for a provider has a row, with its source, and is tried; every row names one`() throws {
        let source = try SourceFile.text(of: "Modules/NetworkCore/RefreshCalls/RefreshRefusalRule+Providers.swift")
        let presets = source.matches(of: /public static var (\w+): Self/).map { String($0.1) }
        #expect(presets.count > 20)
        let rows = try SourceFile.text(of: "Modules/OAuth2Flows/OAuth2Flows.docc/Providers.md").split(separator: "\n")
            .filter { $0.contains(/^\| [^|]+ \| `\.\w+` \|/) }.map { $0.split(separator: "|") }
        let named = rows.map { $0[1].trimmingCharacters(in: ["`", ".", " "]) }
        #expect(named.sorted() == presets.sorted())
        for row in rows { #expect(row.count == 5 && !row[4].allSatisfy(\.isWhitespace), "\(row[0])") }
        let table = try SourceFile.text(of: "Tests/OAuth2FlowsTests/ProviderRefusals.swift")
        let tried = table.matches(of: /"\w+": \.(\w+)\b/).map { String($0.1) }
        #expect(tried.sorted() == presets.sorted())
    }
}
