import Foundation
import Testing

/// The table of guarantees in *How refresh works* leads from each promise to its proof.
@Suite struct GuaranteeTableTests {
    private struct Row {
        let guarantee: String
        let tests: [String]
    }

    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func rows() throws -> [Row] {
        let article = root.appendingPathComponent("Modules/TokenRefresh/TokenRefresh.docc/HowRefreshWorks.md")
        let text = try String(contentsOf: article, encoding: .utf8)
        return text.split(separator: "\n").compactMap { line in
            guard let match = line.firstMatch(of: /^\| (G[0-9]+) \|/) else { return nil }
            return Row(
                guarantee: String(match.1),
                tests: line.matches(of: /“([^”]+)”/).map { String($0.1) }
            )
        }
    }

    @Test("Every guarantee has one row, in order, and at least one test")
    func isComplete() throws {
        let rows = try Self.rows()
        #expect(rows.map(\.guarantee) == (1...27).map { "G\($0)" })
        for row in rows { #expect(!row.tests.isEmpty, "\(row.guarantee)") }
    }

    @Test("Every test the table names exists")
    func namesTests() throws {
        let sources = try ["Tests", "App/Tests"].flatMap { folder in
            let walk = FileManager.default.enumerator(
                at: Self.root.appendingPathComponent(folder), includingPropertiesForKeys: nil)
            return try (walk?.allObjects ?? []).compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
                .map { try String(contentsOf: $0, encoding: .utf8) }
        }
        #expect(sources.count > 50)
        for row in try Self.rows() {
            for test in row.tests {
                let forms = ["\"\(test)\"", "func \(test)(", "func `\(test)`("]
                let isThere = sources.contains { source in forms.contains { source.contains($0) } }
                #expect(isThere, "\(row.guarantee): no test is called “\(test)”")
            }
        }
    }
}
