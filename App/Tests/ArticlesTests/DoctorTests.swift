import AuthInterface
import DevBackend
import Foundation
import ProgramTesting
import Storage
import Testing

/// `articles doctor` finds what is wrong, says what to do, and changes nothing.
@Suite(.timeLimit(.minutes(20))) struct DoctorTests {
    private let home = Home()

    /// The checks by name, and the exit status.
    private func doctor(
        _ arguments: [String], _ environment: [String: String] = [:]
    ) async throws -> (status: Int32, checks: [String: (status: String, text: String)]) {
        let run = try await home.run(["doctor", "--json"] + arguments, environment)
        let checks = try #require(try run.object()["checks"] as? [[String: Any]], "\(run.allOutput)")
        #expect(try run.object()["ok"] as? Bool == (run.status == 0))
        let named = checks.map { check in
            let text = [check["message"], check["advice"]].compactMap { $0 as? String }.joined(separator: "; ")
            return (check["name"] as? String ?? "", (status: check["status"] as? String ?? "", text: text))
        }
        return (run.status, Dictionary(named) { first, _ in first })
    }

    @Test func `with a session and a server every check is ok, and nothing changes`() async throws {
        try await home.withSignedIn { base, backend in
            let before = try Data(contentsOf: home.tokenFile())
            let (status, checks) = try await doctor(base)
            #expect(status == 0)
            #expect(Set(checks.keys) == ["store", "lease", "server", "tls", "clock", "token"])
            #expect(checks.values.allSatisfy { $0.status == "ok" }, "\(checks)")
            #expect(checks["token"]?.text.hasPrefix("signed in, accepted by the server") == true)
            let text = try await home.run(["doctor"] + base)
            #expect(text.output.split(separator: "\n").count == 6)
            #expect(text.output.hasPrefix("ok\tstore\t"))
            // A token that the server refuses is not refreshed.
            try await backend.expireAccessTokens()
            let refused = try await doctor(base)
            #expect(refused.status == 0 && refused.checks["token"]?.status == "warning")
            #expect(refused.checks["token"]?.text.contains("the next command refreshes it") == true)
            #expect(try Data(contentsOf: home.tokenFile()) == before)
            #expect(backend.statistics.refreshes.received == 0 && backend.statistics.logouts == 0)
        }
    }

    #if os(Linux)
    /// Whether this process can mount a disk in a namespace.
    private static var canMount: Bool {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") } ?? ""
        return (UInt64(line.split(separator: "\t").last ?? "", radix: 16) ?? 0) >> 21 & 1 == 1
            && access("/usr/bin/unshare", X_OK) == 0
    }

    @Test(
        .enabled(if: canMount, "needs CAP_SYS_ADMIN and unshare(1)"),
        arguments: [
            (#"dd if=/dev/zero of="$0/full" bs=1k 2>/dev/null; true"#, "is full"),
            (#"mount -o remount,ro "$0""#, "is mounted read-only"),
        ]
    )
    func `a full or read-only disk is not called writable`(change: String, words: String) async throws {
        let disk = home.location("disk")
        try FileManager.default.createDirectory(atPath: disk + "/articles/tokens", withIntermediateDirectories: true)
        let script = """
            mount -t tmpfs -o size=64k,mode=700 none "$0" && mkdir -p -m 700 "$0/articles/tokens" && \(change) &&
                exec "$@"
            """
        let program = SpawnedProgram.executable("articles").path
        let arguments = [
            "-m", "/bin/sh", "-c", script, disk, program, "doctor", "--json", "--base-url", "http://127.0.0.1:1",
        ]
        let run = try await home.start(
            arguments, ["XDG_STATE_HOME": disk], URL(fileURLWithPath: "/usr/bin/unshare")
        ).result
        let checks = try #require(try run.object()["checks"] as? [[String: Any]], "\(run.allOutput)")
        let store = checks.first { $0["name"] as? String == "store" }
        #expect(store?["status"] as? String == "failure", "\(run.allOutput)")
        #expect((store?["message"] as? String)?.contains(words) == true, "\(run.allOutput)")
        #expect((store?["advice"] as? String)?.contains("chmod") == false)
    }
    #endif

    @Test func `a token that has expired on the server's clock is named, with what it needs`() async throws {
        try await home.withSignedIn { base, backend in
            let store = home.tokenStore(of: backend)
            for (refreshToken, status, words) in [
                ("fixture-refresh", "ok", "the next command refreshes it"), (nil, "failure", "sign in with"),
            ] {
                try await store.update { _ in
                    .active(
                        TokenBundle(
                            accessToken: "fixture-access", refreshToken: refreshToken,
                            expiresAt: Date(timeIntervalSinceNow: -60)))
                }
                let (exit, checks) = try await doctor(base)
                #expect(checks["token"]?.status == status && checks["token"]?.text.contains(words) == true)
                #expect(exit == (status == "ok" ? 0 : 1))
            }
        }
    }

    @Test func `the end of the last session is shown`() async throws {
        try await home.withSignedIn { base, backend in
            try await backend.revokeSessions(ofUser: 2)
            #expect(try await home.run(["list"] + base).status == 77)
            let (status, checks) = try await doctor(base)
            #expect(status == 0)
            #expect(checks["token"]?.status == "warning")
            #expect(checks["token"]?.text.contains("expired, HTTP 401, SESSION_REVOKED") == true)
        }
    }

    @Test func `without a server, a folder or a session there is a reason and an advice`() async throws {
        // No server gets this port by chance, as it gets one that another server has had.
        let (status, checks) = try await doctor(["--base-url", "http://127.0.0.1:1/api/v1"])
        #expect(status == 1)
        #expect(checks["server"]?.status == "failure")
        #expect(checks["server"]?.text.contains("articles serve") == true)
        #expect(checks["store"]?.text.contains("does not exist yet") == true)
        #expect(checks["token"]?.text.hasPrefix("not signed in; sign in with") == true)
        #expect(checks["clock"] == nil && checks["tls"] == nil)
    }

    @Test func `a store that others can read, or that is damaged, is a failure`() async throws {
        try await home.withSignedIn { base, _ in
            let file = try home.tokenFile()
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
            let open = try await doctor(base)
            #expect(open.status == 1)
            #expect(open.checks["store"]?.status == "failure")
            #expect(open.checks["store"]?.text.contains("run: chmod 600") == true)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            try FileHandle(forWritingTo: file).truncate(atOffset: 9)
            let damaged = try await doctor(base)
            #expect(damaged.checks["store"]?.text.contains("is not a token file") == true)
            #expect(damaged.checks["token"]?.status == "failure")
        }
    }

    @Test func `another process's lease, and a server that is not this API or is down, are warnings`() async throws {
        try await home.withSignedIn { base, backend in
            let lease = try await home.tokenStore(of: backend).lease(waitingAtMost: .seconds(5))
            let (status, checks) = try await doctor(base)
            #expect(status == 0)
            #expect(checks["lease"]?.status == "warning")
            #expect(checks["lease"]?.text.contains("process \(getpid())-") == true)
            #expect(checks["lease"]?.text.contains(" of this host since 20") == true)
            await lease.release()
            let other = try await doctor(["--base-url", backend.baseURL.absoluteString + "/elsewhere"])
            #expect(other.checks["server"]?.text.contains("check the path of --base-url") == true)
            backend.faults = FaultPlan([FaultRule("GET", "/articles", .respond(status: 503))])
            let down = try await doctor(base)
            #expect(down.checks["server"]?.status == "warning")
            #expect(down.checks["server"]?.text.contains("HTTP 503") == true)
        }
    }

    @Test(.enabled("the system has no user namespaces", Home.canForbidWatching))
    func `a store that cannot be watched is named by doctor and status`() async throws {
        try await home.withSignedIn { base, _ in
            let doctor = try await home.runWithoutWatching(["doctor"] + base)
            #expect(doctor.status == 0)
            #expect(doctor.output.contains("warning\twatch\tthe store cannot report the changes"))
            let status = try await home.runWithoutWatching(["status", "--json"] + base)
            #expect(try status.object()["storeIsWatched"] as? Bool == false)
            let table = try await home.runWithoutWatching(["status"] + base)
            #expect(table.output.contains("watch\tthe store cannot report the changes"))
            let usual = try await home.run(["status", "--json"] + base)
            #expect(try usual.object()["storeIsWatched"] as? Bool == true)
        }
    }

    @Test func `a token from the environment is checked in place of the store`() async throws {
        try await home.withSignedIn { base, backend in
            let bundle = try #require(try await home.tokenStore(of: backend).load())
            let valid = try await doctor(base, ["ARTICLES_TOKEN": bundle.accessToken])
            #expect(valid.status == 0 && valid.checks["token"]?.text.contains("accepted by the server") == true)
            let other = try await doctor(base, ["ARTICLES_TOKEN": "fixture-token"])
            #expect(other.status == 1)
            #expect(other.checks["token"]?.text.contains("set another one in ARTICLES_TOKEN") == true)
        }
    }
}
