import Foundation
import Testing

/// The rules that a reader relies on.
@Suite struct HouseRulesTests {
    private static let folders = ["Modules", "App/Sources", "App/Tests", "Tests"]

    @Test(arguments: folders)
    func `no file is longer than 400 lines`(folder: String) throws {
        for file in try SourceFile.all(in: folder) {
            #expect(file.source.split(separator: "\n", omittingEmptySubsequences: false).count <= 401, "\(file)")
        }
    }

    /// The clock of the system, and the wait for a lock that has no other form.
    private static let mayWait: Set<String> = [
        "Modules/ConcurrencyPrimitives/TimeSource.swift", "Modules/Storage/File/PrivateFolder+Lock.swift",
    ]

    @Test(arguments: ["Modules", "Tests", "App/Tests"])
    func `no test sleeps, and no module but by a clock`(folder: String) throws {
        for file in try SourceFile.all(in: folder) where !Self.mayWait.contains(file.path) {
            let code = CodeToken.tokens(in: file.source).map(\.text)
            for (index, word) in code.enumerated() {
                let owner = index >= 2 && code[index - 1] == "." ? code[index - 2] : ""
                let sleeps = word == "sleep" && ["Task", "Thread"].contains(owner)
                if sleeps || ["usleep", "nanosleep"].contains(word) {
                    Issue.record("\(file): \(word) makes a test slow, or wrong under load. Use a Gate, a clock.")
                }
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

    @Test(arguments: ["Tests", "App/Tests"])
    func `the name of a test is a sentence in backticks`(folder: String) throws {
        for file in try SourceFile.all(in: folder) {
            let code = CodeToken.tokens(in: file.source)
            for index in code.indices.dropFirst() where code[index].text == "Test" && code[index - 1].text == "@" {
                guard let function = code[index...].dropLast().firstIndex(where: { $0.text == "func" }) else {
                    continue
                }
                if !code[function + 1].text.hasPrefix("`") {
                    Issue.record("\(file):\(code[function].line): write func `what is so`(), without a second name.")
                }
            }
        }
    }

    @Test func `nothing that ships prints`() throws {
        for file in try SourceFile.all(in: "Modules") {
            let words = CodeToken.tokens(in: file.source)
            for (word, next) in zip(words, words.dropFirst()) where word.text == "print" && next.text == "(" {
                Issue.record("\(file):\(word.line): output belongs to the application.")
            }
        }
    }
}
