import AuthInterface
import Foundation
import Testing

@testable import Storage

@Suite("Where the tokens of an application are")
struct TokenFolderLocationTests {
    private let home = URL(fileURLWithPath: "/home/ada", isDirectory: true)

    @Test(
        "XDG_STATE_HOME counts if it is an absolute path, otherwise the state folder is in the home folder",
        arguments: [
            ([:], "/home/ada/.local/state"), (["XDG_STATE_HOME": "/state"], "/state"),
            (["XDG_STATE_HOME": ""], "/home/ada/.local/state"),
            (["XDG_STATE_HOME": "state"], "/home/ada/.local/state"),
            (["XDG_DATA_HOME": "/data"], "/home/ada/.local/state"),
        ] as [([String: String], String)]
    )
    func stateFolder(environment: [String: String], path: String) {
        #expect(TokenFolderLocation.stateFolder(environment: environment, home: home).path == path)
    }

    @Test(
        "An application's name is one visible folder",
        arguments: [("articles", "articles"), ("../articles", "%..%2farticles"), ("", "%"), (".config", "%.config")]
    )
    func folderName(application: String, name: String) {
        #expect(TokenFolderLocation.folderName(for: application) == name)
    }

    @Test("The file is in a folder of its own, so that its mode concerns nobody else")
    func file() {
        let file = FileTokenStore(application: "articles", account: "ada").file
        #expect(file.path.hasSuffix("/articles/tokens/ada.json"))
    }

    @Test("Where the home folder is missing the answer is `unavailable`: its disk is not there, the tokens may be")
    func missingHome() async throws {
        let temporary = try TemporaryFolder()
        let home = temporary.fresh()
        let tokens = TokenFile(
            folder: home.appendingPathComponent("articles/tokens").path,
            name: "ada.json",
            anchor: home.path
        )
        #expect(throws: TokenStoreError.self) { try tokens.load() }
        #expect(throws: TokenStoreError.self) { try tokens.save(.numbered(1), at: Date()) }
        #expect(throws: TokenStoreError.self) { try tokens.delete() }
        #expect(throws: TokenStoreError.self) { try tokens.tryLease() }
        #expect(!FileManager.default.fileExists(atPath: home.path))

        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: false)
        #expect(try tokens.load() == nil)
        try tokens.save(.numbered(1), at: Date())
        #expect(try tokens.load() == .numbered(1))
    }
}
