import Foundation
import Testing

/// What the README says is so.
@Suite struct ReadmeTests {
    /// The documents at the root, and the templates of the forge.
    private static let documents = [
        "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "VERSIONING.md", "SECURITY.md", "CODE_OF_CONDUCT.md",
        ".github/PULL_REQUEST_TEMPLATE.md",
    ]

    private static func text(of path: String) throws -> String {
        try String(contentsOf: SourceFile.root.appendingPathComponent(path), encoding: .utf8)
    }

    @Test func `the Swift samples of the README, in order, are the program that the consumers compile`() throws {
        let samples = Markdown.blocks(of: "swift", in: try Self.text(of: "README.md"))
        let program = try Self.text(of: "Tests/Consumers/Sources/Plain/main.swift")
        let note = "// swift-format-ignore-file: NeverForceUnwrap, OrderedImports"
        #expect(samples.count >= 2)
        let shown = lines(of: ([note] + samples).joined(separator: "\n\n") + "\n")
        let compiled = lines(of: program)
        for (index, (shown, compiled)) in zip(shown, compiled).enumerated() where shown != compiled {
            Issue.record("main.swift:\(index + 1): \(compiled). The README has: \(shown)")
        }
        #expect(shown.count == compiled.count)
    }

    @Test func `the first sample of the README is the program that the tests of the app run`() throws {
        let sample = try #require(Markdown.blocks(of: "swift", in: Self.text(of: "README.md")).first)
        let server = #"let server = "http://127.0.0.1:8080/api/v1""#
        #expect(sample.contains(server))
        let program = sample.replacingOccurrences(of: server, with: "let server = CommandLine.arguments[1]")
        let note = "// swift-format-ignore-file: NeverForceUnwrap\n\n"
        #expect(try Self.text(of: "App/Tests/FirstSample/main.swift") == note + program + "\n")
    }

    @Test func `every module that the first sample imports is a product that the README depends on`() throws {
        let readme = try Self.text(of: "README.md")
        let first = try #require(Markdown.blocks(of: "swift", in: readme).first)
        let manifest = try #require(Markdown.blocks(of: "swift manifest", in: readme).first)
        for module in ImportScanner.imports(in: first).map(\.module) where module != "Foundation" {
            #expect(manifest.contains("\"\(module)\""), "\(module)")
        }
    }

    @Test func `every make target that the documents name exists`() throws {
        let makefile = try Self.text(of: "Makefile")
        let documents = try Self.documents.map(Self.text).joined()
        let named = documents.matches(of: /make ([a-z][A-Za-z-]*)/).map { String($0.1) }
        #expect(named.count >= 8)
        for target in Set(named) {
            let isOfOneModule = target.hasPrefix("test-") && makefile.contains("\ntest-%:")
            #expect(isOfOneModule || makefile.contains("\n\(target):"), "make \(target)")
        }
    }

    @Test func `every file and folder that the documents name exists`() throws {
        for document in Self.documents {
            let text = try Self.text(of: document)
            let linked = text.matches(of: /\]\(([A-Z][^)#]*)\)/).map { String($0.1) }
            let quoted = text.matches(of: /`((?:Modules|App|Tests)\/[A-Za-z0-9\/+._-]+)`/).map { String($0.1) }
            for path in linked + quoted {
                let url = SourceFile.root.appendingPathComponent(path)
                #expect(FileManager.default.fileExists(atPath: url.path), "\(document): \(path)")
            }
        }
    }

    @Test func `the README is one screen, with every module in its picture, and every trait`() async throws {
        let readme = try Self.text(of: "README.md")
        #expect(lines(of: readme).count <= 181, "an article of the documentation has room for more")
        let picture = try #require(
            readme.components(separatedBy: "\n```").first { $0.contains("TokenRefresh   Storage") })
        for module in AllowTable.system.keys { #expect(picture.contains(module), "\(module)") }
        for trait in try await Manifest.root.value.traits {
            #expect(readme.contains("| `\(trait.name)` |"), "\(trait.name)")
        }
    }

    private func lines(of text: String) -> [Substring] {
        text.split(separator: "\n", omittingEmptySubsequences: false)
    }
}
