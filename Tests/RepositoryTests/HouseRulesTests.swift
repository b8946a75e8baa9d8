import Foundation
import Testing

/// The rules that a reader relies on.
@Suite struct HouseRulesTests {
    private static let folders = ["Modules", "App/Sources", "App/Tests", "Tests"]

    @Test(arguments: folders)
    func `no file is longer than 400 lines`(folder: String) throws {
        for file in try SourceFile.all(in: folder) { #expect(file.lineCount <= 400, "\(file)") }
    }

    /// The clock of the system, and the wait for a lock that has no other form.
    private static let mayWait: Set<String> = [
        "Modules/ConcurrencyPrimitives/TimeSource.swift", "Modules/Storage/File/PrivateFolder+Lock.swift",
    ]

    @Test(arguments: ["Modules", "Tests", "App/Tests"])
    func `no test sleeps, and no module but by a clock`(folder: String) throws {
        let sleep = /\b(?:Task|Thread)\.sleep\b|\b(?:u|nano)sleep\b/
        for file in try SourceFile.all(in: folder) where !Self.mayWait.contains(file.path) {
            for match in SourceFile.withoutCommentLines(file.source).matches(of: sleep) {
                Issue.record("\(file): \(match.0) makes a test slow, or wrong under load. Use a Gate, a clock.")
            }
        }
    }

    /// The formatter checks the code. A row of a table has no place to break.
    @Test(arguments: folders)
    func `no comment is wider than 120 columns`(folder: String) throws {
        for file in try SourceFile.all(in: folder) {
            let lines = file.source.split(separator: "\n", omittingEmptySubsequences: false)
            for (index, line) in lines.enumerated() where line.utf8.count > 120 && line.count > 120 {
                let text = line.drop { $0 == " " }
                guard text.hasPrefix("//"), !text.hasPrefix("/// |") else { continue }
                Issue.record("\(file):\(index + 1): break the line.")
            }
        }
    }

    /// Apple platforms keep more than Linux does, and no test runs there: the sessions are made in one place.
    @Test func `G35: every session of URLSession is made without a cache, cookies and credentials`() throws {
        let made = /\bURLSession(?:Configuration)?\s*(?:\(|\.(?:shared|default|ephemeral|background)\b)/
        var files: Set<String> = []
        for file in try SourceFile.all(in: "Modules") {
            let code = SourceFile.withoutCommentLines(file.source)
            guard code.contains(made) else { continue }
            files.insert(file.path)
            // After the application's own settings, which it may change.
            let settings = try #require(code.range(of: "configure(configuration)"), "\(file)")
            for name in ["urlCache", "httpCookieStorage", "urlCredentialStorage"] {
                #expect(code[settings.upperBound...].contains("configuration.\(name) = nil"), "\(file): \(name)")
            }
        }
        #expect(files == ["Modules/NetworkURLSession/URLSessionPool.swift"])
    }

    @Test func `nothing that ships prints`() throws {
        for file in try SourceFile.all(in: "Modules") {
            for match in SourceFile.withoutCommentLines(file.source).matches(of: /.*\bprint\(.*/) {
                Issue.record("\(file): \(match.0): output belongs to the application.")
            }
        }
    }
}
