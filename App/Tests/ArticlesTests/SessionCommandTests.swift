import AuthInterface
import DevBackend
import Foundation
import ProgramTesting
import Storage
import Testing

/// Sign-in, articles and sign-out, with processes of `articles` against a server.
@Suite(.home, .timeLimit(.minutes(20))) struct SessionCommandTests {
    private func articles(_ arguments: String...) async throws -> SpawnedProgram.Result {
        try await home.run(arguments + base)
    }

    private func refreshRequest() throws -> String {
        try #require(backend.journal.last { $0.path.hasSuffix("/auth/refresh") }).requestID
    }

    private func signIn() async throws -> SpawnedProgram.Result {
        let photo = try home.file("photo.jpg", Pictures.valid())
        return try await articles("login", "guest", "--name", "Ada", "--photo", photo, "--json")
    }

    @Test(.signedIn)
    func `G30: a sign-out that the store has not taken shows in doctor and the list of profiles`() async throws {
        let ordinal = try await home.tokens(of: backend).ordinal
        try home.configure(#"{"base-url": "\#(backend.baseURL)"}"#)
        #expect(try await home.run(["profile", "list"]).output.contains("\tsigned in"))
        try await home.journal(of: backend).update { found in
            var entry = try? found.get()
            entry?.pending = PendingSignOut(upTo: ordinal, reason: .byUser, date: Date())
            return entry
        }
        #expect(try await home.run(["profile", "list"]).output.contains("\tnot signed in"))
        #expect(try await home.run(["doctor"] + base).output.contains("signed out, and the store still holds"))
        #expect(try await home.run(["list"] + base).status == 77)
    }

    @Test(.server) func `a guest stays signed in from run to run`() async throws {
        let login = try await signIn()
        #expect(login.status == 0, "\(login.errors)")
        #expect(try login.json("user", "name") as? String == "Ada")
        let created = try await articles("create", "--title", "Hello", "--body", "World", "--json")
        let id = try #require(try created.json("article", "id") as? String)
        let shown = try await articles("show", "\(id)")
        #expect(shown.output.hasPrefix("Hello\n") && shown.output.hasSuffix("World\n"))
        let listed = try await articles("list", "--limit", "2", "--json")
        #expect((try listed.json("articles") as? [Any])?.count == 2)
        let cursor = try #require(try listed.json("nextCursor") as? String)
        let more = try await articles("list", "--limit", "3", "--cursor", cursor)
        #expect(more.outputLines.count == 3 && more.errors.hasPrefix("3 articles, and more follow: use --all"))
        let all = try await articles("list", "--all")
        #expect(all.outputLines.count == 13 && all.errors.isEmpty)
        let edited = try await articles("edit", id, "--title", "Goodbye")
        #expect(edited.output.hasPrefix("Goodbye\n") && edited.output.hasSuffix("World\n"))
        #expect(try await articles("delete", id, "--yes").output == "deleted article \(id)\n")
        #expect(try await articles("show", id).status == 1)
        #expect(backend.statistics.registrations == 1)
    }

    @Test(
        .signedIn,
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")),
        arguments: [["list"], ["list", "--json"], ["--version"], ["list", "--help"]]
    )
    func `output that cannot be written is a failure`(_ arguments: [String]) async throws {
        let isLocal = arguments != ["list"] && arguments.last != "--json"
        let words = arguments + (isLocal ? [] : base)
        let run = try await home.startShell(#"exec "$0" "$@" > /dev/full"#, words).result
        #expect(run.status == 73)
        #expect(run.errors.hasSuffix("articles: the output cannot be written; check that the disk is not full\n"))
    }

    @Test(.signedIn) func `an expired token is refreshed once and stored`() async throws {
        try await backend.expireAccessTokens()
        #expect(try await articles("list", "--all").status == 0)
        #expect(try await articles("list").status == 0)
        #expect(backend.statistics.refreshes.committed == 1)
    }

    @Test(.signedIn) func `status shows the session, and logout ends it`() async throws {
        let before = try await articles("status", "--json")
        #expect(try before.status == 0 && before.json("state") as? String == "signedIn")
        #expect(try await articles("logout").status == 0)
        #expect(backend.statistics.logouts == 1)
        let after = try await articles("status", "--json")
        #expect(try after.status == 77 && after.json("state") as? String == "signedOut")
        #expect(try await articles("logout").output == "no user was signed in\n")
    }

    @Test(.signedIn) func `every later status shows how the last session ended`() async throws {
        let before = try await articles("status", "--json").object()
        #expect(before["expiresAt"] is String)
        #expect(before["lastEnding"] == nil && before["storeFailure"] == nil)
        let bundle = try await home.tokens(of: backend)
        let tokens = [bundle.accessToken, try #require(bundle.refreshToken)]
        try await backend.revokeSessions(ofUser: 2)
        try await backend.expireAccessTokens()
        try await articles("list").expectError(77, "articles: the session has ended; sign in with")
        let kept = String(decoding: try Data(contentsOf: home.tokenFile()), as: UTF8.self)
        for secret in tokens.flatMap({ $0.split(separator: ".") }) { #expect(!kept.contains(secret)) }
        let request = try refreshRequest()
        for _ in 0..<2 {
            let status = try await articles("status", "--json")
            #expect(try status.status == 77 && status.json("state") as? String == "expired")
            let ending = try #require(try status.json("lastEnding") as? [String: Any])
            let texts = ["reason", "code", "requestId"].map { ending[$0] as? String }
            #expect(texts == ["expired", "SESSION_REVOKED", request])
            #expect(ending["httpStatus"] as? Int == 401)
            #expect(ending["date"] is String && ending["process"] is String)
        }
        let line = try await articles("status").outputLines.first { $0.hasPrefix("ended") }
        #expect(line?.contains("expired, HTTP 401, SESSION_REVOKED, request \(request)") == true)
    }

    @Test(.signedIn, arguments: [("list", "/articles", 1), ("status", "/users/me", 0)])
    func `G22: without a refresh token, a refusal is the end only if the token is called invalid`(
        _ command: String, _ path: String, _ status: Int32
    ) async throws {
        let bundle = try await home.tokens(of: backend).withoutRefreshToken
        try await home.tokenStore(of: backend).update { _ in .active(bundle) }
        backend.faults = FaultPlan([FaultRule("GET", path, .respond(status: 401))])
        let refused = try await articles(command)
        #expect(refused.status == status && refused.allOutput.contains("there is no refresh token"), "\(refused)")
        backend.faults = .none
        #expect(try await articles("status", "--json").json("state") as? String == "signedIn")
        try await backend.expireAccessTokens()
        let ended = try await articles(command)
        #expect(ended.status == 77 && ended.allOutput.contains("the session has ended"), "\(ended)")
    }

    @Test(.signedIn) func `status shows why the last refresh failed`() async throws {
        #expect(try await articles("status", "--json").json("refreshFailure") == nil)
        try await backend.expireAccessTokens()
        backend.faults = FaultPlan([FaultRule("POST", "/auth/refresh", .respond(status: 503))])
        let status = try await articles("status", "--json")
        #expect(try status.status == 0 && status.json("state") as? String == "unverified")
        let failure = try #require(try status.json("refreshFailure") as? [String: Any])
        #expect(failure["verdict"] as? String == "unavailable" && failure["httpStatus"] as? Int == 503)
        #expect(try failure["requestId"] as? String == refreshRequest())
        let line = try await articles("status").outputLines.first { $0.hasPrefix("refresh") } ?? ""
        #expect(line.contains("failed (unavailable)") && line.contains("HTTP 503"), "\(line)")
    }

    @Test(.server, arguments: ["", "  ", "a\nb", String(repeating: "a", count: 51)])
    func `a name that the server would refuse is an error before the photo is uploaded`(_ name: String) async throws {
        let photo = try home.file("photo.jpg", Pictures.valid())
        try await articles("login", "guest", "--name", name, "--photo", photo)
            .expectError(64, "--name must")
        #expect(backend.statistics.requests == 0)
    }

    @Test(.signedIn) func `create after a lost response makes one article`() async throws {
        let create = ["create", "--title", "once", "--body", "b"] + base
        backend.faults = FaultPlan([FaultRule("POST", "/articles", .closeAfterHandler, times: 1)])
        #expect(try await home.run(create).status == 0, "the attempts of a command have one key")
        backend.faults = FaultPlan([FaultRule("POST", "/articles", .closeAfterHandler)])
        let lost = try await home.run(create)
        #expect(lost.status == 69)
        let key = try #require(lost.errors.firstMatch(of: /--idempotency-key ([^\n]+)/)?.1)
        backend.faults = .none
        #expect(try await home.run(create + ["--idempotency-key", String(key)]).status == 0)
        #expect(try await articles("list", "--all").outputLines.count { $0.contains("\tonce\t") } == 2)
    }

    @Test(.signedIn)
    func `a login over another session needs --replace, and names the user of that session`() async throws {
        let again = try await signIn()
        #expect(again.status == 64)
        let message = try again.json("error", "message") as? String
        #expect(message?.hasPrefix("already signed in as Ada (user 2); add --replace") == true)
        #expect(try await home.run(Home.login(as: "Grace") + base).status == 64)
        #expect(backend.statistics.registrations == 0 && backend.statistics.socialLogins == 1)
        #expect(backend.statistics.logouts == 0)
        let same = try await home.run(Home.login() + ["--replace"] + base)
        #expect(same.output == "signed in as Ada (user 2)\n", "the same user is not replaced")
        let other = try await home.run(Home.login(as: "Grace") + ["--replace"] + base)
        #expect(other.output == "signed in as Grace (user 3)\n")
        #expect(other.errors == "note: this replaces the session of Ada (user 2)\n")
        let last = try await home.run(Home.login() + ["--replace", "--json"] + base)
        #expect(try last.json("replaced", "user", "name") as? String == "Grace")
        // Each replaced session is revoked, and no other one.
        #expect(backend.statistics.logouts == 3)
        #expect(try await home.run(["list"] + base).status == 0)
        // A session that the server has ended is no session to keep.
        try await backend.revokeSessions(ofUser: 2)
        #expect(try await home.run(Home.login(as: "Grace") + base).status == 0)
    }

    @Test(.signedIn) func `an error object names the response`() async throws {
        let run = try await articles("show", "9999", "--json")
        let error = try #require(try run.json("error") as? [String: Any])
        #expect(error["httpStatus"] as? Int == 404 && error["code"] as? String == "NOT_FOUND")
        #expect(error["requestId"] as? String == backend.journal.last?.requestID)
        backend.faults = FaultPlan([FaultRule("POST", "/auth/refresh", .respond(status: 503), times: 1)])
        try await backend.expireAccessTokens()
        let unavailable = try await articles("list", "--json")
        #expect(try unavailable.status == 75 && unavailable.json("error", "httpStatus") as? Int == 503)
        #expect(try unavailable.json("error", "requestId") as? String == refreshRequest())
    }
}
