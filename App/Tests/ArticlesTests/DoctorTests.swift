import AuthInterface
import DevBackend
import Foundation
import ProgramTesting
import Storage
import Testing

/// `articles doctor` finds what is wrong, says what to do, and changes nothing.
@Suite(.home, .timeLimit(.minutes(20))) struct DoctorTests {
    private struct Checkup {
        let status: Int32
        /// By name, as in `failure: the message; the advice`.
        let checks: [String: String]

        init(_ run: SpawnedProgram.Result) throws {
            let checks = try #require(try run.json("checks") as? [[String: Any]], "\(run.allOutput)")
            #expect(try run.json("ok") as? Bool == (run.status == 0))
            let named = checks.map { check in
                let text = [check["message"], check["advice"]].compactMap { $0 as? String }.joined(separator: "; ")
                return (check["name"] as? String ?? "", "\(check["status"] ?? ""): \(text)")
            }
            status = run.status
            self.checks = Dictionary(named) { first, _ in first }
        }

        /// Expects the outcome of a check: `ok`, `warning` or `failure`, and what it says.
        func expect(
            _ name: String, _ outcome: String, _ words: String, sourceLocation: SourceLocation = #_sourceLocation
        ) {
            let check = checks[name] ?? ""
            #expect(
                check.hasPrefix("\(outcome): ") && check.contains(words), "\(name): \(check)",
                sourceLocation: sourceLocation)
        }
    }

    private func doctor(_ arguments: [String], _ environment: [String: String] = [:]) async throws -> Checkup {
        try Checkup(await home.run(["doctor", "--json"] + arguments, environment))
    }

    @Test(.signedIn) func `with a session and a server every check is ok, and nothing changes`() async throws {
        let before = try Data(contentsOf: home.tokenFile())
        let healthy = try await doctor(base)
        #expect(healthy.status == 0)
        #expect(Set(healthy.checks.keys) == ["store", "lease", "server", "tls", "clock", "token"])
        #expect(healthy.checks.values.allSatisfy { $0.hasPrefix("ok: ") }, "\(healthy.checks)")
        healthy.expect("token", "ok", "signed in, accepted by the server")
        let text = try await home.run(["doctor"] + base)
        #expect(text.outputLines.count == 6 && text.output.hasPrefix("ok\tstore\t"))
        // A token that the server refuses is not refreshed.
        try await backend.expireAccessTokens()
        let refused = try await doctor(base)
        #expect(refused.status == 0)
        refused.expect("token", "warning", "the next command refreshes it")
        #expect(try Data(contentsOf: home.tokenFile()) == before)
        #expect(backend.statistics.refreshes.received == 0 && backend.statistics.logouts == 0)
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
        let unshare = URL(fileURLWithPath: "/usr/bin/unshare")
        let checkup = try Checkup(await home.start(arguments, ["XDG_STATE_HOME": disk], unshare).result)
        checkup.expect("store", "failure", words)
        #expect(checkup.checks["store"]?.contains("; ") == true, "there is an advice")
        #expect(checkup.checks["store"]?.contains("chmod") == false)
    }
    #endif

    @Test(.signedIn) func `a token that has expired on the server's clock is named, with what it needs`() async throws {
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
            let checkup = try await doctor(base)
            checkup.expect("token", status, words)
            #expect(checkup.status == (status == "ok" ? 0 : 1))
        }
    }

    @Test(.signedIn) func `the end of the last session is shown`() async throws {
        try await backend.revokeSessions(ofUser: 2)
        #expect(try await home.run(["list"] + base).status == 77)
        let checkup = try await doctor(base)
        #expect(checkup.status == 0)
        checkup.expect("token", "warning", "expired, HTTP 401, SESSION_REVOKED")
    }

    @Test func `without a server, a folder or a session there is a reason and an advice`() async throws {
        // No server gets this port by chance, as it gets one that another server has had.
        let checkup = try await doctor(["--base-url", "http://127.0.0.1:1/api/v1"])
        #expect(checkup.status == 1)
        checkup.expect("server", "failure", "articles serve")
        #expect(checkup.checks["store"]?.contains("does not exist yet") == true)
        #expect(checkup.checks["token"]?.contains(": not signed in; sign in with") == true)
        #expect(checkup.checks["clock"] == nil && checkup.checks["tls"] == nil)
    }

    @Test(.signedIn) func `a store that others can read, or that is damaged, is a failure`() async throws {
        let file = try home.tokenFile()
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
        let open = try await doctor(base)
        #expect(open.status == 1)
        open.expect("store", "failure", "run: chmod 600")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        try FileHandle(forWritingTo: file).truncate(atOffset: 9)
        let damaged = try await doctor(base)
        #expect(damaged.checks["store"]?.contains("is not a token file") == true)
        #expect(damaged.checks["token"]?.hasPrefix("failure: ") == true)
    }

    @Test(.signedIn)
    func `another process's lease, and a server that is not this API or is down, are warnings`() async throws {
        let lease = try await home.tokenStore(of: backend).lease(waitingAtMost: .seconds(5))
        let held = try await doctor(base)
        #expect(held.status == 0)
        held.expect("lease", "warning", "process \(getpid())-")
        held.expect("lease", "warning", " of this host since 20")
        await lease.release()
        let other = try await doctor(["--base-url", backend.baseURL.absoluteString + "/elsewhere"])
        #expect(other.checks["server"]?.contains("check the path of --base-url") == true)
        backend.faults = FaultPlan([FaultRule("GET", "/articles", .respond(status: 503))])
        try await doctor(base).expect("server", "warning", "HTTP 503")
    }

    @Test(.signedIn, .enabled("the system has no user namespaces", Home.canForbidWatching))
    func `a store that cannot be watched is named by doctor and status`() async throws {
        let doctor = try await home.runWithoutWatching(["doctor"] + base)
        #expect(doctor.status == 0)
        #expect(doctor.output.contains("warning\twatch\tthe store cannot report the changes"))
        let status = try await home.runWithoutWatching(["status", "--json"] + base)
        #expect(try status.json("storeIsWatched") as? Bool == false)
        let table = try await home.runWithoutWatching(["status"] + base)
        #expect(table.output.contains("watch\tthe store cannot report the changes"))
        #expect(try await home.run(["status", "--json"] + base).json("storeIsWatched") as? Bool == true)
    }

    @Test(.signedIn) func `a token from the environment is checked in place of the store`() async throws {
        let valid = try await doctor(base, ["ARTICLES_TOKEN": home.tokens(of: backend).accessToken])
        #expect(valid.status == 0 && valid.checks["token"]?.contains("accepted by the server") == true)
        let other = try await doctor(base, ["ARTICLES_TOKEN": "fixture-token"])
        #expect(other.status == 1)
        #expect(other.checks["token"]?.contains("set another one in ARTICLES_TOKEN") == true)
    }
}
