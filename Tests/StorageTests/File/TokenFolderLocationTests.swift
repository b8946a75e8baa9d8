import AuthInterface
import Foundation
import Testing

@testable import Storage

@Suite("The default folder of an application")
struct TokenFolderLocationTests {
    @Test(
        arguments: [
            (["HOME": "/home/ada"], "/home/ada/.local/state", "/home/ada"),
            (["HOME": "/home/ada", "XDG_STATE_HOME": "/state"], "/state", "/state"),
            (["HOME": "/home/ada", "XDG_STATE_HOME": ""], "/home/ada/.local/state", "/home/ada"),
            (["HOME": "/home/ada", "XDG_STATE_HOME": "state"], "/home/ada/.local/state", "/home/ada"),
            (["HOME": "/home/ada", "XDG_DATA_HOME": "/data"], "/home/ada/.local/state", "/home/ada"),
            (["HOME": "/no/such/home"], "/no/such/home/.local/state", "/no/such/home"),
            ([:], NSHomeDirectory() + "/.local/state", NSHomeDirectory()),
        ] as [([String: String], String, String)])
    func `XDG_STATE_HOME is used if it is an absolute path, otherwise HOME`(
        environment: [String: String], folder: String, anchor: String
    ) {
        let state = TokenFolderLocation.state(environment: environment)
        #expect(state.folder.path == folder)
        #expect(state.anchor.path == anchor)
    }

    @Test(arguments: [("articles", "articles"), ("../articles", "%..%2farticles"), ("", "%"), (".config", "%.config")])
    func `an application's name is one visible folder`(application: String, name: String) {
        #expect(TokenFolderLocation.folderName(for: application) == name)
    }

    @Test func `the file is in a folder for tokens only, so that its mode affects no other file`() {
        let file = FileTokenStore(application: "articles", account: "ada").file
        #expect(file.path.hasSuffix("/articles/tokens/ada.json"))
    }

    @Test func `without the home folder the store is unavailable, because its disk may not be mounted`() async throws {
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
