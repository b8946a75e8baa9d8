import AuthInterface
import DevBackend
import Foundation
import ProgramTesting
import Testing

/// A token file that cannot be used is reported in one line, and kept.
@Suite(.home, .timeLimit(.minutes(20))) struct StoreFailureTests {
    @Test(.signedIn) func `a file that other users can read is neither used nor changed`() async throws {
        let file = try home.tokenFile()
        let content = try Data(contentsOf: file)
        let requests = backend.statistics.requests
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
        for command in [["list"], ["status"], ["logout"], Home.login(as: "Grace")] {
            try await home.run(command + base).expectError(74, "run: chmod 600 ")
        }
        #expect(try Data(contentsOf: file) == content)
        #expect(backend.statistics.requests == requests)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        #expect(try await home.run(["list"] + base).status == 0)
    }

    @Test(.signedIn) func `a corrupt file is kept until a sign-in replaces it`() async throws {
        let file = try home.tokenFile()
        let broken = Data("{\"accessToken\":".utf8)
        try FileHandle(forWritingTo: file).truncate(atOffset: 0)
        try FileHandle(forWritingTo: file).write(contentsOf: broken)
        for command in ["list", "status"] {
            try await home.run([command] + base).expectError(74, "is not a token file")
        }
        #expect(try Data(contentsOf: file) == broken)
        #expect(try await home.run(Home.login() + base).status == 0)
        // No copy remains that would keep tokens after a sign-out.
        let folder = file.deletingLastPathComponent()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.filter { $0.hasSuffix(".json") || $0.contains("corrupt") } == [file.lastPathComponent])
        #expect(try await home.run(["list"] + base).status == 0)
    }

    @Test(.signedIn) func `a corrupt file is shown by the status, and does not prevent a sign-out`() async throws {
        let file = try home.tokenFile()
        try FileHandle(forWritingTo: file).truncate(atOffset: 3)
        let status = try await home.run(["status", "--json"] + base)
        #expect(status.status == 74)
        #expect(try status.json("state") as? String == "unknown")
        #expect(try status.json("storeFailure", "code") as? String == "corrupt")
        #expect((try status.json("storeFailure", "reason") as? String)?.contains("is not a token file") == true)
        #expect(try await home.run(["status"] + base).output.contains("problem\t\(file.path)"))
        let run = try await home.run(["logout"] + base)
        #expect(run.status == 0 && run.output.contains("the tokens were not revoked at the server"))
        #expect(try await home.tokenStore(of: backend).load() == nil)
    }
}
