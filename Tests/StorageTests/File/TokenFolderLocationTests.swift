import AuthInterface
import Foundation
import Testing

@testable import Storage

@Suite("Where the tokens of an application are")
struct TokenFolderLocationTests {
    @Test(
        "XDG_STATE_HOME counts if it is an absolute path, otherwise the state folder is in HOME, which must exist",
        arguments: [
            (["HOME": "/home/ada"], "/home/ada/.local/state", "/home/ada"),
            (["HOME": "/home/ada", "XDG_STATE_HOME": "/state"], "/state", "/state"),
            (["HOME": "/home/ada", "XDG_STATE_HOME": ""], "/home/ada/.local/state", "/home/ada"),
            (["HOME": "/home/ada", "XDG_STATE_HOME": "state"], "/home/ada/.local/state", "/home/ada"),
            (["HOME": "/home/ada", "XDG_DATA_HOME": "/data"], "/home/ada/.local/state", "/home/ada"),
            (["HOME": "/no/such/home"], "/no/such/home/.local/state", "/no/such/home"),
            ([:], NSHomeDirectory() + "/.local/state", NSHomeDirectory()),
        ] as [([String: String], String, String)]
    )
    func stateFolder(environment: [String: String], folder: String, anchor: String) {
        let state = TokenFolderLocation.state(environment: environment)
        #expect(state.folder.path == folder)
        #expect(state.anchor.path == anchor)
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
        let folder = TokenFolder.test(home.appendingPathComponent("articles/tokens").path, anchor: home.path)
        let tokens = TokenFile(folder: folder, name: "ada.json")
        #expect(throws: TokenStoreError.self) { try tokens.read() }
        #expect(throws: TokenStoreError.self) { try tokens.update { _ in .active(.numbered(1)) } }
        #expect(throws: TokenStoreError.self) { try tokens.delete() }
        #expect(throws: TokenStoreError.self) { try tokens.tryLease() }
        #expect(!FileManager.default.fileExists(atPath: home.path))

        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: false)
        #expect(try tokens.read() == .empty)
        try tokens.update { _ in .active(.numbered(1)) }
        #expect(try tokens.read() == .active(.numbered(1)))
    }
}
