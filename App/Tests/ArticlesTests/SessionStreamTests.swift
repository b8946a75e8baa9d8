import AuthInterface
import DevBackend
import Foundation
import ProgramTesting
import Storage
import Testing

/// `articles session export -`: a session that moves through a stream.
@Suite(.timeLimit(.minutes(20))) struct SessionStreamTests {
    private let home = Home()
    /// The other machine.
    private let other = Home()

    /// Exports to a file by redirection, and returns its path.
    private func export(_ base: [String]) async throws -> String {
        let run = try await home.run(["session", "export", "-"] + base)
        #expect(run.status == 0, "\(run.errors)")
        let path = try home.file("piped.session", Data(run.output.utf8))
        #expect(chmod(path, 0o600) == 0)
        return path
    }

    /// Runs a command with a file as its standard input.
    private func run(_ arguments: [String], in home: Home, input: String) async throws -> SpawnedProgram.Result {
        let program = SpawnedProgram.executable("articles").path
        let script = ["-c", #"input=$1; shift; exec "$0" "$@" < "$input""#, program, input]
        return try await home.start(script + arguments, [:], URL(fileURLWithPath: "/bin/sh")).result
    }

    /// Removes the last line.
    private func cut(_ path: String) throws {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.hasSuffix("\nmoved\n"))
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try handle.truncate(atOffset: UInt64(text.utf8.count - "moved\n".utf8.count))
    }

    @Test func `a stream that was cut off before its last line is not imported, and can be continued`() async throws {
        try await home.withSignedIn { base, _ in
            let path = try await export(base)
            try cut(path)
            let refused = try await other.run(["session", "import", path] + base)
            #expect(refused.status == 65 && refused.errorLine?.contains("was interrupted") == true)
            #expect(chmod(path, 0o644) == 0)
            let open = try await home.run(["session", "export", path] + base)
            #expect(open.status == 65 && open.errorLine?.contains("chmod 600") == true, "\(open.errors)")
            #expect(chmod(path, 0o600) == 0)
            let again = try await home.run(["session", "export", path] + base)
            #expect(again.status == 0, "\(again.errors)")
            #expect(try await other.run(["session", "import", path] + base).status == 0)
            #expect(try await other.run(["list"] + base).status == 0)
        }
    }

    @Test func `a session that arrived without its last line is kept, and imported when its user says so`()
        async throws
    {
        try await home.withSignedIn { base, _ in
            let path = try await export(base)
            try cut(path)
            let refused = try await run(["session", "import", "-"] + base, in: other, input: path)
            #expect(refused.status == 65, "\(refused.errors)")
            let kept = try #require(refused.errors.firstMatch(of: /it is in (\S+)\. If/)).1
            let mode = try FileManager.default.attributesOfItem(atPath: String(kept))[.posixPermissions] as? Int
            #expect(mode == 0o600)
            #expect(try await other.run(["session", "import", String(kept)] + base).status == 65)
            let status = try await home.run(["status", "--json"] + base).object()
            #expect((status["lastEnding"] as? [String: Any])?["reason"] as? String == "moved")
            let doctor = try await home.run(["doctor"] + base)
            #expect(doctor.output.contains("it was moved at"), "\(doctor.output)")
            let imported = try await other.run(["session", "import", "--has-moved", String(kept)] + base)
            #expect(imported.status == 0, "\(imported.errors)")
            #expect(!FileManager.default.fileExists(atPath: String(kept)))
            #expect(try await other.run(["list"] + base).status == 0)
        }
    }

    @Test func `a complete stream is imported from standard input`() async throws {
        try await home.withSignedIn { base, _ in
            let path = try await export(base)
            #expect(try await run(["session", "import", "-"] + base, in: other, input: path).status == 0)
            #expect(try await other.run(["list"] + base).status == 0)
            for end in ["", "mov", "moved", "moved\nmoved\n"] {
                try Data(contentsOf: URL(fileURLWithPath: path)).write(to: URL(fileURLWithPath: path + "x"))
                try cut(path + "x")
                let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path + "x"))
                try handle.seekToEnd()
                try handle.write(contentsOf: Data(end.utf8))
                #expect(try await run(["session", "import", "-"] + base, in: home, input: path + "x").status == 65)
            }
        }
    }

    @Test func `a session whose reader has gone stays`() async throws {
        try await home.withSignedIn { base, _ in
            let program = SpawnedProgram.executable("articles").path
            // The shell reports the status of the export; `true` reads nothing.
            let script = #"{ "$0" "$@"; echo "status $?" >&2; } | true"#
            let arguments = ["-c", script, program, "session", "export", "-"] + base
            let run = try await home.start(arguments, [:], URL(fileURLWithPath: "/bin/sh")).result
            if run.errors.contains("status 73") {
                #expect(try await home.run(["list"] + base).status == 0)
            } else {
                // It was written before `true` ended: no program can tell.
                #expect(run.errors.contains("status 0"), "\(run.errors)")
            }
        }
    }

    /// Kills an export once it has written something, and a number of steps later.
    private static let killing = #"""
        umask 077; out=$1; steps=$2; shift 2
        "$0" "$@" > "$out" & export=$!
        while [ ! -s "$out" ] && kill -0 $export; do :; done
        while [ $steps -gt 0 ]; do steps=$((steps - 1)); done
        kill -9 $export; wait $export
        """#

    /// After a kill at any instant there is one holder, or one that `export` completes.
    @Test func `an export to a stream that is killed never makes two holders`() async throws {
        try await home.withSignedIn { base, backend in
            let path = home.location("killed.session")
            for round in 0..<20 {
                let program = SpawnedProgram.executable("articles").path
                let words = ["-c", Self.killing, program, path, "\(round * round * 10)", "session", "export", "-"]
                _ = try await home.start(words + base, [:], URL(fileURLWithPath: "/bin/sh")).result
                let isHere = try await home.tokenStore(of: backend).load() != nil
                let imported = try await other.run(["session", "import", path] + base)
                #expect(!isHere || imported.status != 0, "two holders in round \(round)")
                if imported.status == 0 {
                    #expect(try await other.run(["session", "export", home.location("back")] + base).status == 0)
                    #expect(try await home.run(["session", "import", home.location("back")] + base).status == 0)
                } else if !isHere {
                    #expect(try await home.run(["session", "export", path] + base).status == 0)
                    #expect(try await home.run(["session", "import", path] + base).status == 0)
                }
                #expect(try await home.tokenStore(of: backend).load() != nil, "no holder in round \(round)")
                try? FileManager.default.removeItem(atPath: path)
            }
            try await backend.expireAccessTokens()
            #expect(try await home.run(["list"] + base).status == 0)
            #expect(backend.statistics.refreshes.reuseDetected == 0)
        }
    }
}
