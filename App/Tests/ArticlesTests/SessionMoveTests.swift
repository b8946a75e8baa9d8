import AuthInterface
import DevBackend
import Foundation
import ProgramTesting
import Storage
import Testing

/// `articles session`: what is stored, and a session that moves into a file and out of it.
@Suite struct SessionMoveTests {
    private let home = Home()
    /// The other machine.
    private let other = Home()

    private var file: String { home.location("moved.session") }

    @Test func `the session is shown without its tokens, unless they are asked for`() async throws {
        try await home.withSignedIn { base, backend in
            let bundle = try #require(try await home.tokenStore(of: backend).load())
            let refreshToken = try #require(bundle.refreshToken)
            let shown = try await home.run(["session", "show"] + base)
            #expect(shown.status == 0 && shown.output.contains("access token\tredacted ("))
            #expect(!shown.allOutput.contains(bundle.accessToken) && !shown.allOutput.contains(refreshToken))
            let object = try await home.run(["session", "show", "--json"] + base).object()
            #expect((object["accessToken"] as? String)?.hasPrefix("redacted") == true)
            #expect(object["session"] as? String == bundle.session.rawValue)
            let revealed = try await home.run(["session", "show", "--reveal", "--json=refreshToken"] + base).object()
            #expect(revealed["refreshToken"] as? String == refreshToken && revealed.count == 1)
            #expect(try await other.run(["session", "show"] + base).status == 77)
        }
    }

    @Test func `a session moves to another machine, and both ends know it`() async throws {
        try await home.withSignedIn { base, backend in
            let before = try #require(try await home.tokenStore(of: backend).load())
            let export = try await home.run(["session", "export", file] + base)
            #expect(export.status == 0, "\(export.errors)")
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(backend.statistics.logouts == 0)
            #expect(try await home.run(["list"] + base).status == 77)
            let status = try await home.run(["status", "--json"] + base).object()
            #expect((status["lastEnding"] as? [String: Any])?["reason"] as? String == "moved")

            let imported = try await other.run(["session", "import", file] + base)
            #expect(imported.status == 0, "\(imported.errors)")
            #expect(!FileManager.default.fileExists(atPath: file))
            let moved = try #require(try await other.tokenStore(of: backend).load())
            #expect(moved.hasSameTokens(as: before) && moved.lifetime == before.lifetime)
            try await backend.expireAccessTokens()
            #expect(try await other.run(["list"] + base).status == 0)
            #expect(backend.statistics.refreshes.committed == 1)
            for run in [export, imported] { #expect(!run.allOutput.contains(before.accessToken)) }
        }
    }

    @Test func `a session can be piped, and returns to its own store`() async throws {
        try await home.withSignedIn { base, _ in
            let export = try await home.run(["session", "export", "-"] + base)
            #expect(export.status == 0 && export.output.hasPrefix("articles-session 1 streaming\n"))
            #expect(export.output.hasSuffix("}\nmoved\n"))
            #expect(try await home.run(["list"] + base).status == 77)
            let path = try home.file("piped.session", Data(export.output.utf8))
            let open = try await home.run(["session", "import", path] + base)
            #expect(open.status == 65)
            #expect(open.errorLine?.contains("other users can access") == true, "\(open.errors)")
            #expect(chmod(path, 0o600) == 0)
            #expect(try await home.run(["session", "import", path] + base).status == 0)
            #expect(try await home.run(["list"] + base).status == 0)
        }
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
    func `a session that cannot be written stays`() async throws {
        try await home.withSignedIn { base, _ in
            let run = try await home.runOnFullDisk(["session", "export", "-"] + base)
            #expect(run.status == 73, "\(run.errors)")
            let taken = try home.file("taken", Data("precious".utf8))
            for path in [taken, home.location("missing/folder/file"), "/"] {
                let run = try await home.run(["session", "export", path] + base)
                #expect(run.status == (path == taken || path == "/" ? 64 : 73), "\(path): \(run.errors)")
            }
            #expect(try String(contentsOfFile: taken, encoding: .utf8) == "precious")
            let empty = try home.file("empty", Data())
            #expect(chmod(empty, 0o600) == 0)
            #expect(try await home.run(["session", "export", empty] + base).status == 64)
            #expect(try await home.run(["list"] + base).status == 0)
            let none = try await other.run(["session", "export", file] + base)
            #expect(none.status == 77 && !FileManager.default.fileExists(atPath: file))
        }
    }

    @Test func `an export that was killed while it wrote is repeated, and leaves no second file`() async throws {
        try await home.withSignedIn { base, _ in
            for left in [Data(), Data("articles-session 1 exp".utf8)] {
                let part = file + ".part"
                try left.write(to: URL(fileURLWithPath: part))
                let open = try await home.run(["session", "export", file] + base)
                #expect(open.status != 0, "other users can read it")
                #expect(chmod(part, 0o600) == 0)
                #expect(try await home.run(["session", "export", file] + base).status == 0)
                #expect(!FileManager.default.fileExists(atPath: part))
                #expect(try await home.run(["session", "import", file] + base).status == 0)
            }
        }
    }

    @Test func `a huge file is refused by its size`() async throws {
        try await home.withSignedIn { base, _ in
            let path = try home.file("huge", Data("articles-session 1 moved    \n".utf8))
            #expect(chmod(path, 0o600) == 0 && truncate(path, 3 << 30) == 0)
            for command in ["import", "export"] {
                // It has too little memory for the file.
                let limited = ["-c", #"ulimit -v 3000000; exec "$0" "$@""#, SpawnedProgram.executable("articles").path]
                let shell = URL(fileURLWithPath: "/bin/sh")
                let run = try await home.start(limited + ["session", command, path] + base, [:], shell).result
                #expect(run.status == (command == "import" ? 65 : 64), "\(run.errors)")
            }
            #expect(try await home.run(["list"] + base).status == 0)
        }
    }

    @Test func `a file is imported once`() async throws {
        try await home.withSignedIn { base, _ in
            _ = try await home.run(["session", "export", file] + base)
            let copy = home.location("copy")
            try FileManager.default.copyItem(atPath: file, toPath: copy)
            #expect(try await other.run(["session", "import", file] + base).status == 0)
            let missing = try await other.run(["session", "import", file] + base)
            #expect(missing.status == 66)
            let again = try await other.run(["session", "import", copy, "--replace"] + base)
            #expect(again.status == 64)
            #expect(again.errorLine?.contains("is signed in here already") == true)
            #expect(try await other.run(["logout"] + base).status == 0)
            let ended = try await other.run(["session", "import", copy] + base)
            #expect(ended.status == 77)
            #expect(ended.errorLine?.contains("has ended here (by the user") == true, "\(ended.errors)")
        }
    }

    @Test func `another session needs --replace, which revokes it`() async throws {
        try await home.withSignedIn { base, backend in
            _ = try await home.run(["session", "export", file] + base)
            #expect(try await other.run(Home.login() + base).status == 0)
            let refused = try await other.run(["session", "import", file] + base)
            #expect(refused.status == 64 && refused.errorLine?.contains("--replace") == true)
            #expect(FileManager.default.fileExists(atPath: file) && backend.statistics.logouts == 0)
            #expect(try await other.run(["session", "import", file, "--replace"] + base).status == 0)
            #expect(backend.statistics.logouts == 1)
            #expect(try await other.run(["list"] + base).status == 0)
        }
    }

    @Test func `a file that is damaged, of another server or no export is refused`() async throws {
        try await home.withSignedIn { base, _ in
            _ = try await home.run(["session", "export", file] + base)
            let data = try Data(contentsOf: URL(fileURLWithPath: file))
            func refusal(_ content: Data, _ base: [String]) async throws -> String {
                let path = try home.file("changed", content)
                #expect(chmod(path, 0o600) == 0)
                let run = try await other.run(["session", "import", path] + base)
                #expect(run.status == 64 || run.status == 65, "\(run.errors)")
                #expect(FileManager.default.fileExists(atPath: path))
                return run.errorLine ?? ""
            }
            #expect(try await refusal(data, ["--base-url", "http://127.0.0.1:9/api"]).contains("has a session of"))
            #expect(try await refusal(data.dropLast(9), base).contains("is damaged"))
            var flipped = data
            flipped[data.count / 2] ^= 1
            #expect(try await refusal(flipped, base).contains("is damaged"))
            #expect(try await refusal(Data("{}".utf8), base).contains("is not a file of"))
            #expect(try await refusal(Data(), base).contains("is damaged"))
            #expect(try await other.run(["session", "import", file] + base).status == 0)
        }
    }

    @Test func `an export that was killed can be continued, and an import of its file is refused elsewhere`()
        async throws
    {
        try await home.withSignedIn { base, _ in
            _ = try await home.run(["session", "export", file] + base)
            // As a kill after the end of the session leaves it.
            try setState("exporting", of: file)
            let refused = try await other.run(["session", "import", file] + base)
            #expect(refused.status == 65 && refused.errorLine?.contains("was interrupted") == true)
            #expect(try await home.run(["session", "export", file] + base).status == 0)
            #expect(try await other.run(["session", "import", file] + base).status == 0)

            // As a kill before the end of the session leaves it.
            _ = try await other.run(["session", "export", file] + base)
            let copy = home.location("copy")
            try FileManager.default.copyItem(atPath: file, toPath: copy)
            #expect(try await other.run(["session", "import", file] + base).status == 0)
            try setState("exporting", of: copy)
            #expect(try await other.run(["session", "import", copy] + base).status == 65)
            #expect(try await other.run(["session", "export", copy] + base).status == 0)
            #expect(try await other.run(["list"] + base).status == 77)
        }
    }

    @Test func `an import that was killed can be continued where it was started only`() async throws {
        try await home.withSignedIn { base, backend in
            _ = try await home.run(["session", "export", file] + base)
            let copy = home.location("copy")
            try FileManager.default.copyItem(atPath: file, toPath: copy)
            #expect(try await other.run(["session", "import", file] + base).status == 0)
            // As a kill before the file is removed leaves it.
            try setState("importing", of: copy)
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: copy))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data("elsewhere:/store\n".utf8))
            let refused = try await home.run(["session", "import", copy] + base)
            #expect(refused.status == 65 && refused.errorLine?.contains("interrupted at elsewhere:/store") == true)
            #expect(try await other.run(["session", "import", copy] + base).status == 0)
            #expect(!FileManager.default.fileExists(atPath: copy) && backend.statistics.logouts == 0)
        }
    }

    @Test func `an export that was killed before its end is refused where the session has been before`() async throws {
        try await home.withSignedIn { base, _ in
            for (from, to) in [(home, other), (other, home)] {
                #expect(try await from.run(["session", "export", file] + base).status == 0)
                #expect(try await to.run(["session", "import", file] + base).status == 0)
            }
            #expect(try await home.run(["session", "export", file] + base).status == 0)
            let copy = home.location("copy")
            try FileManager.default.copyItem(atPath: file, toPath: copy)
            #expect(try await home.run(["session", "import", file] + base).status == 0)
            // The session is signed in at home, and the other machine has the tombstone of an earlier move.
            try setState("exporting", of: copy)
            #expect(try await other.run(["session", "import", copy] + base).status == 65)
            #expect(try await home.run(["session", "export", file] + base).status == 0)
            let stale = try await home.run(["session", "export", copy] + base)
            #expect(stale.status == 64, "the tombstone at home is that of the other file")
            #expect(try await home.run(["session", "import", copy] + base).status == 65)
            #expect(try await other.run(["session", "import", file] + base).status == 0)
        }
    }

    @Test func `an import that failed leaves the file for another place`() async throws {
        try await home.withSignedIn { base, _ in
            _ = try await home.run(["session", "export", file] + base)
            let failed = try await other.run(["session", "import", file, "--store-path", "/dev/null/tokens"] + base)
            #expect(failed.status == 74, "\(failed.errors)")
            #expect(try await other.run(["session", "import", file] + base).status == 0)
            #expect(try await other.run(["list"] + base).status == 0)
        }
    }

    private func setState(_ state: String, of path: String) throws {
        var text = try String(contentsOfFile: path, encoding: .utf8)
        let range = try #require(text.range(of: "moved    "))
        text.replaceSubrange(range, with: state)
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try handle.write(contentsOf: Data(text.utf8))
    }

    @Test func `an interrupted refresh is completed before the session moves`() async throws {
        try await home.withSignedIn { base, backend in
            let store = home.tokenStore(of: backend)
            let intent = RefreshIntent(
                idempotencyKey: "fixture-key", owner: ProcessIdentity(host: "gone", process: "1"),
                date: Date(timeIntervalSinceNow: -300))
            try await store.update { found in
                (try? found.get())?.bundle.map { .active($0.with(refreshIntent: intent)) }
            }
            let run = try await home.run(["session", "export", file] + base)
            #expect(run.status == 0, "\(run.errors)")
            #expect(backend.statistics.refreshes.committed == 1)
            #expect(try await other.run(["session", "import", file] + base).status == 0)
            #expect(try await other.run(["list"] + base).status == 0)
        }
    }
}
