import Foundation
import Testing

@Suite struct ReadmeTests {
    /// The documents at the root, and the templates of the forge.
    private static let documents = [
        "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "VERSIONING.md", "SECURITY.md", "CODE_OF_CONDUCT.md",
        ".github/PULL_REQUEST_TEMPLATE.md",
    ]

    @Test func `the Swift samples of the README, in order, are the program that the consumers compile`() throws {
        let samples = Markdown.blocks(of: "swift", in: try SourceFile.text(of: "README.md"))
        let program = try SourceFile.text(of: "Tests/Consumers/Sources/Plain/main.swift")
        let note = "// swift-format-ignore-file: NeverForceUnwrap, OrderedImports"
        #expect(samples.count == 2)
        let shown = lines(of: ([note] + samples).joined(separator: "\n\n") + "\n")
        let compiled = lines(of: program)
        for (index, (shown, compiled)) in zip(shown, compiled).enumerated() where shown != compiled {
            Issue.record("main.swift:\(index + 1): \(compiled). The README has: \(shown)")
        }
        #expect(shown.count == compiled.count)
    }

    @Test func `the picture of the README has every module`() throws {
        let blocks = try SourceFile.text(of: "README.md").components(separatedBy: "\n```")
        let picture = try #require(blocks.first { $0.contains("TokenRefresh   Storage") })
        for module in AllowTable.system.keys { #expect(picture.contains(module), "\(module)") }
    }

    @Test func `every module that the first sample imports is a product that the README depends on`() throws {
        let readme = try SourceFile.text(of: "README.md")
        let first = try #require(Markdown.blocks(of: "swift", in: readme).first)
        let manifest = try #require(Markdown.blocks(of: "swift manifest", in: readme).first)
        for module in ImportScanner.imports(in: first).map(\.module) where module != "Foundation" {
            #expect(manifest.contains("\"\(module)\""), "\(module)")
        }
    }

    @Test func `every make target that the documents name exists`() throws {
        let makefile = try SourceFile.text(of: "Makefile")
        let documents = try Self.documents.map { try SourceFile.text(of: $0) }.joined()
        let named = documents.matches(of: /make ([a-z][A-Za-z-]*)/).map { String($0.1) }
        #expect(named.count >= 8)
        for target in Set(named) {
            let isOfOneModule = target.hasPrefix("test-") && makefile.contains("\ntest-%:")
            #expect(isOfOneModule || makefile.contains("\n\(target):"), "make \(target)")
        }
    }

    @Test func `the figures of the README are those of the benchmarks`() throws {
        let rows = try SourceFile.text(of: "Benchmarks/README.md").split(separator: "\n").map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        /// The medians of the rows of one metric whose first column ends so.
        func medians(_ metric: String, of ending: String) -> [Double] {
            rows.filter { $0.count > 2 && $0[0].hasSuffix(ending) && $0[1] == metric }.compactMap { Double($0[2]) }
        }
        let allocations = try #require(rows.first { $0.starts(with: ["with tokens", "allocations"]) }.map { $0[2] })
        let instructions = try #require(medians("instructions", of: "with tokens").first)
        let ratios = medians("CPU, ratio", of: ", with tokens")
        let lowest = try #require(ratios.min())
        let highest = try #require(ratios.max())
        let readme = try SourceFile.text(of: "README.md").split(separator: "\n").joined(separator: " ")
        let thousands = Int((instructions / 1_000).rounded())
        let own = "\(Int(try #require(Double(allocations)))) allocations and \(thousands),000 instructions"
        #expect(readme.contains("takes \(own) in the client"))
        #expect(readme.contains("it takes \(lowest) to \(highest) times the processor time"))
    }

    @Test func `every file and folder that the documents name exists`() throws {
        for document in Self.documents {
            let text = try SourceFile.text(of: document)
            let linked = text.matches(of: /\]\(([A-Z][^)#]*)\)/).map { String($0.1) }
            let quoted = text.matches(of: /`((?:Modules|App|Tests)\/[A-Za-z0-9\/+._-]+)`/).map { String($0.1) }
            for path in linked + quoted {
                let url = SourceFile.root.appendingPathComponent(path)
                #expect(FileManager.default.fileExists(atPath: url.path), "\(document): \(path)")
            }
        }
    }

    @Test func `every trait is in the page of traits`() async throws {
        let page = try SourceFile.text(of: "Documentation/Latchkey.docc/Traits.md")
        for trait in try await Manifest.root.value.traits {
            #expect(page.contains("| `\(trait.name)` |"), "\(trait.name)")
        }
    }

    private func lines(of text: String) -> [Substring] {
        text.split(separator: "\n", omittingEmptySubsequences: false)
    }
}
