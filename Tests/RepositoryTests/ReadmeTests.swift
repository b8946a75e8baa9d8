import AuthInterface
import Foundation
import Storage
import Testing
import TokenRefresh

/// The front page tells the truth.
@Suite struct ReadmeTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func text(of path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    @Test("Every Swift sample of the README is compiled, word for word")
    func samples() throws {
        let shown = blocks(in: try Self.text(of: "README.md"), from: { $0 == "```swift" }, to: { $0 == "```" })
        let compiled = blocks(
            in: try Self.text(of: "Tests/RepositoryTests/ReadmeSamples.swift"),
            from: { $0.hasPrefix("// sample: ") },
            to: { $0 == "// end" }
        )
        #expect(shown.count >= 5)
        #expect(Set(shown) == Set(compiled))
    }

    @Test("The sample handler works as the page says: what the partner throws is unavailable, not rejected")
    func sampleHandler() async throws {
        struct Offline: Error {}
        let working = PartnerRefresh(partner: Partner { ("access-1", "\($0)-next", 60) })
        let result = try await working.refresh(TokenRefreshRequest(refreshToken: "refresh"))
        #expect(
            result
                == TokenRefreshResult(
                    accessToken: "access-1", refreshToken: "refresh-next", expiresIn: .seconds(60)))
        await #expect(throws: Offline.self) {
            _ = try await PartnerRefresh(partner: Partner { _ in throw Offline() })
                .refresh(TokenRefreshRequest(refreshToken: "refresh"))
        }
        #expect(TokenRefreshError.verdict(of: Offline()).code == .unavailable)
    }

    @Test("US2: the sample handler takes the place of the first one in the composition, and is called")
    func composition() async throws {
        let partner = Partner { ("access-1", "\($0)-next", 60) }
        let session = TokenRefreshCoordinator(store: MemoryTokenStore(), handler: PartnerRefresh(partner: partner))
        try await session.signIn(TokenRefreshResult(accessToken: "access-0", refreshToken: "refresh"))
        try await session.refresh()
        #expect(try await session.token().value == "access-1")
        #expect(await session.settle())
    }

    @Test("Every chore the README names is one the Makefile knows")
    func chores() throws {
        let makefile = try Self.text(of: "Makefile")
        let named = try Self.text(of: "README.md").matches(of: /make ([a-z][A-Za-z-]*)/).map { String($0.1) }
        #expect(named.count >= 8)
        for chore in Set(named) {
            let isOfOneModule = chore.hasPrefix("test-") && makefile.contains("\ntest-%:")
            #expect(isOfOneModule || makefile.contains("\n\(chore):"), "make \(chore)")
        }
    }

    @Test("The module table names every module there is, and no other")
    func moduleTable() throws {
        let readme = try Self.text(of: "README.md")
        let rows = readme.matches(of: /(?m)^\| `([A-Za-z]+)` \|/).map { String($0.1) }
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.root.path + "/Modules")
        #expect(Set(rows) == Set(folders.filter { !$0.hasPrefix("C") && !$0.hasPrefix(".") }))
    }

    /// The blocks between two marks, each moved to the left edge.
    private func blocks(in text: String, from: (String) -> Bool, to: (String) -> Bool) -> [String] {
        var blocks: [String] = []
        var block: [Substring]?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let bare = line.trimmingCharacters(in: .whitespaces)
            if let lines = block, to(bare) {
                blocks.append(movedLeft(lines))
                block = nil
            } else if block != nil {
                block?.append(line)
            } else if from(bare) {
                block = []
            }
        }
        return blocks
    }

    private func movedLeft(_ lines: [Substring]) -> String {
        let margin = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        return lines.map { String($0.dropFirst(margin)) }.joined(separator: "\n")
    }
}
