import AuthInterface
import DevBackend
import Foundation
import ProgramTesting
import Storage
import Testing

/// G35: tokens do not lie around. Programs run in folders of their own, whose files are then searched.
@Suite(.timeLimit(.minutes(20))) struct TokensAtRestTests {
    /// The folders that a program finds in its environment.
    private struct PrivateHome {
        let temporary: TemporaryFolder
        let url: URL

        init() throws {
            temporary = try TemporaryFolder()
            url = temporary.url
            for name in ["tmp", "runtime"] {
                try FileManager.default.createDirectory(
                    at: url.appendingPathComponent(name), withIntermediateDirectories: false,
                    attributes: [.posixPermissions: 0o700])
            }
        }

        /// The environment of a program, without a variable of this process that names a folder of the user.
        var environment: [String: String] {
            let folders = [
                "HOME": "", "TMPDIR": "tmp", "XDG_RUNTIME_DIR": "runtime", "XDG_STATE_HOME": "state",
                "XDG_CACHE_HOME": "cache", "XDG_CONFIG_HOME": "config", "XDG_DATA_HOME": "data",
            ].mapValues { url.appendingPathComponent($0).path }
            // And none of them uses the keyring of the user.
            let own = folders.merging(["ARTICLES_STORE": "file"]) { $1 }
            return ProcessInfo.processInfo.environment.merging(own) { $1 }
        }

        func run(_ program: String, _ arguments: [String]) async throws -> SpawnedProgram.Result {
            let url = SpawnedProgram.executable(program)
            return try await SpawnedProgram(url, arguments, environment: environment).result
        }

        /// The files whose names or content have one of the secrets, or the end of one, by their paths in this folder.
        func files(with secrets: Set<String>) throws -> Set<String> {
            // The last part of a token is its signature: a token that is cut or quoted still has it.
            let needles = secrets.flatMap { [$0, String($0.suffix(16))] }
            var found: Set<String> = []
            let files = try FileManager.default.subpathsOfDirectory(atPath: url.path)
            for path in files {
                let file = url.appendingPathComponent(path)
                let content = (try? Data(contentsOf: file)) ?? Data()
                if needles.contains(where: { path.contains($0) || content.range(of: Data($0.utf8)) != nil }) {
                    found.insert(path)
                }
            }
            return found
        }
    }

    @Test(arguments: ["AsyncHTTPClient", "URLSession"])
    func `G35: after every flow no file, log, recording or URL has a token`(transport: String) async throws {
        let home = try PrivateHome()
        let photo = home.url.appendingPathComponent("source.jpg")
        try TestApp.photo.write(to: photo)
        let (result, counts) = try await DevBackend.withServer { backend in
            let result = try await home.run(
                "Endurance",
                [
                    "flows", "--server", backend.baseURL.absoluteString, "--transport", transport, "--folder",
                    home.url.path, "--photo", photo.path,
                ])
            return (result, backend.statistics)
        }
        try #require(result.status == 0, "\(result.errors)")
        #expect(counts.refreshes.committed == 3 && counts.logouts == 3)
        func lines(_ word: String) -> [String] {
            result.output.split(separator: "\n").filter { $0.hasPrefix("\(word) ") }
                .map { String($0.dropFirst(word.count + 1)) }
        }
        // Three sessions with two pairs of tokens each, and the code.
        let secrets = Set(lines("secret"))
        #expect(secrets.count == 13 && secrets.allSatisfy { $0.count > 16 })
        #expect(try home.files(with: secrets) == [])
        #expect(lines("url").count > 15)
        for secret in secrets {
            #expect(!result.errors.contains(secret.suffix(16)))
            #expect(lines("url").filter { $0.contains(secret.suffix(16)) } == [])
        }
        #expect(lines("open") == [])
        for file in ["log", "traffic.har"] {
            let content = try String(contentsOf: home.url.appendingPathComponent(file), encoding: .utf8)
            #expect(content.contains("auth/refresh") && content.contains("oauth2/token"), "\(file) has the calls")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.url.appendingPathComponent("tmp").path) == [])
    }

    @Test func `G35: a token is in the program's store only, and nowhere after the sign-out`() async throws {
        let home = try PrivateHome()
        try await DevBackend.withServer { backend in
            let store = FileTokenStore(
                folder: home.url.appendingPathComponent("state/articles/tokens"), account: backend.baseURL.account)
            var secrets: Set<String> = []
            func run(_ arguments: String...) async throws {
                let recording = [
                    "--har", home.url.appendingPathComponent("\(arguments[0]).har").path, "--verbose",
                    "--base-url", backend.baseURL.absoluteString,
                ]
                let result = try await home.run("articles", arguments + recording)
                #expect(result.status == 0, "\(arguments): \(result.errors)")
                if let bundle = try await store.load() {
                    secrets.formUnion([bundle.accessToken, bundle.refreshToken ?? bundle.accessToken])
                    let path = String(store.file.path.dropFirst(home.url.path.count + 1))
                    #expect(try home.files(with: secrets) == [path], "\(arguments)")
                } else {
                    #expect(try home.files(with: secrets) == [], "\(arguments)")
                }
                for secret in secrets {
                    #expect(!(result.output + result.errors).contains(secret.suffix(16)), "\(arguments)")
                }
            }
            try await run("login", "social", "--provider", "apple", "--development-name", "Ada")
            try await run("list")
            try await run("create", "--title", "title", "--body", "text")
            try await backend.expireAccessTokens()
            try await run("show", "1")
            try await run("status")
            try await run("logout")
            #expect(secrets.count == 4)
            #expect(try await store.load() == nil)
        }
    }
}
