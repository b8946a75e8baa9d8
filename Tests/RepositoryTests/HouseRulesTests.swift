import Foundation
import Testing

/// The rules a reader relies on, held by a machine.
@Suite struct HouseRulesTests {
    private static let folders = ["Modules", "App/Sources", "App/Tests", "Tests"]

    @Test("No file is longer than 400 lines", arguments: folders)
    func fileLength(folder: String) throws {
        for file in try SourceTree.files(in: folder) {
            #expect(file.source.split(separator: "\n", omittingEmptySubsequences: false).count <= 401, "\(file)")
        }
    }

    @Test("Every file is named for its role", arguments: folders)
    func names(folder: String) throws {
        for file in try SourceTree.files(in: folder) {
            let name = file.path.split(separator: "/").last ?? ""
            for word in ["Helper", "Manager", "Util", "Common", "Placeholder"] {
                #expect(!name.contains(word), "\(file)")
            }
        }
    }

    @Test("No test sleeps", arguments: ["Tests", "App/Tests"])
    func noSleep(folder: String) throws {
        for file in try SourceTree.files(in: folder) where !file.path.hasSuffix("HouseRulesTests.swift") {
            for call in ["Task.sleep", "Thread.sleep", "usleep(", "nanosleep("] {
                #expect(!file.source.contains(call), "\(file) calls \(call)")
            }
        }
    }

    @Test("Nothing that ships prints: output is the application's")
    func noPrint() throws {
        for file in try SourceTree.files(in: "Modules") {
            for line in file.source.split(separator: "\n") where !line.drop(while: \.isWhitespace).hasPrefix("//") {
                #expect(!line.contains(" print("), "\(file)")
            }
        }
    }
}
