import Foundation
import Testing

@Suite struct ArticleTests {
    private struct Article {
        let path: String
        let text: String
    }

    private static func articles() throws -> [Article] {
        try ["Documentation", "Modules"].flatMap { folder in
            let paths = SourceFile.paths(below: SourceFile.root.appendingPathComponent(folder), withExtension: "md")
            return try paths.map { "\(folder)/\($0)" }.map { Article(path: $0, text: try SourceFile.text(of: $0)) }
        }
    }

    /// What needs a package that no test of the modules depends on.
    private static let uncompiled = ["import Crypto\n", "import OpenAPIRuntime\n"]

    @Test func `each Swift sample of an article is in a file that the tests compile`() throws {
        let compiled = try SourceFile.all(in: "Tests").map { "\n" + Markdown.words(of: $0.source) }
        let articles = try Self.articles()
        #expect(articles.count > 40)
        var count = 0
        for article in articles {
            for sample in Markdown.blocks(of: "swift", in: article.text)
            where !Self.uncompiled.contains(where: sample.hasPrefix) {
                count += 1
                let words = "\n" + Markdown.words(of: sample) + "\n"
                if compiled.contains(where: { $0.contains(words) }) { continue }
                Issue.record("\(article.path): no test compiles the sample \(sample.prefix(80))…")
            }
        }
        #expect(count > 60)
    }

    @Test func `every module has a page with a sample, and says what it is for`() throws {
        let articles = try Self.articles()
        for module in AllowTable.system.keys {
            let path = "Modules/\(module)/\(module).docc/\(module).md"
            guard let page = articles.first(where: { $0.path == path }) else {
                Issue.record("\(path) is missing")
                continue
            }
            #expect(page.text.hasPrefix("# ``\(module)``\n\n"), "\(path)")
            #expect(!Markdown.blocks(of: "swift", in: page.text).isEmpty, "\(path): show some lines of code")
        }
    }

    @Test func `the first page leads to every module and to every article of the guide`() throws {
        let articles = try Self.articles()
        let first = try #require(articles.first { $0.path == "Documentation/Latchkey.docc/Latchkey.md" }).text
        for module in AllowTable.system.keys { #expect(first.contains("\n- <doc:/\(module)>\n"), "\(module)") }
        for article in articles where article.path.hasPrefix("Documentation/") && article.text != first {
            let name = (article.path as NSString).lastPathComponent.dropLast(3)
            #expect(first.contains("\n- <doc:\(name)>\n"), "\(article.path)")
        }
    }

    @Test func `every source file that an article names exists`() throws {
        let folders = ["Modules", "App", "Examples", "Tests"]
        let files = try folders.flatMap { try SourceFile.all(in: $0) }
        let names = Set(files.map { ($0.path as NSString).lastPathComponent })
        for article in try Self.articles() {
            for match in article.text.matches(of: /`([A-Z][A-Za-z0-9]*(?:\+[A-Za-z0-9]+)?\.swift)`/) {
                #expect(names.contains(String(match.1)), "\(article.path): \(match.1)")
            }
        }
    }
}
