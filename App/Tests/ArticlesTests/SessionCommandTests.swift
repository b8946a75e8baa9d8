import DevBackend
import Foundation
import Testing

/// Signing in, reading, writing and leaving with the real executable against the real server.
@Suite struct SessionCommandTests {
    private let home: Home

    init() throws {
        home = try Home()
    }

    /// Runs the executable against a server.
    private func articles(_ backend: DevBackend, _ arguments: String...) async throws -> CommandLineRun {
        try await home.run(arguments + ["--base-url", backend.baseURL.absoluteString])
    }

    /// Signs in as a guest.
    private func signIn(_ backend: DevBackend) async throws -> CommandLineRun {
        let photo = try home.file("photo.jpg", Pictures.good())
        return try await articles(backend, "login", "guest", "--name", "Ada", "--photo", photo, "--json")
    }

    /// The tokens that are stored, and the parts of them.
    private func secrets() throws -> [String] {
        let stored = try JSONSerialization.jsonObject(with: Data(contentsOf: home.tokenFile()))
        let bundle = try #require((stored as? [String: Any])?["bundle"] as? [String: Any])
        let tokens = ["accessToken", "refreshToken"].compactMap { bundle[$0] as? String }
        #expect(tokens.count == 2)
        return tokens + tokens.flatMap { $0.split(separator: ".").map(String.init) }
    }

    @Test func aGuestStaysSignedInFromRunToRun() async throws {
        try await DevBackend.withServer { backend in
            let login = try await signIn(backend)
            #expect(login.status == 0, "\(login.errors)")
            #expect((try login.object()["user"] as? [String: Any])?["name"] as? String == "Ada")

            let created = try await articles(backend, "create", "--title", "Hello", "--body", "World", "--json")
            let article = try #require(try created.object()["article"] as? [String: Any])
            let id = try #require(article["id"] as? Int)
            let shown = try await articles(backend, "show", "\(id)")
            #expect(shown.output.hasPrefix("Hello\n") && shown.output.hasSuffix("World\n"))
            let listed = try await articles(backend, "list", "--limit", "2", "--json")
            #expect((try listed.object()["articles"] as? [Any])?.count == 2)
            #expect(backend.statistics.registrations == 1)
        }
    }

    @Test func anExpiredTokenIsRenewedOnceAndKept() async throws {
        try await DevBackend.withServer { backend in
            _ = try await signIn(backend)
            try await backend.expireAccessTokens()
            #expect(try await articles(backend, "list", "--all").status == 0)
            #expect(try await articles(backend, "list").status == 0)
            #expect(backend.statistics.refreshes.committed == 1)
        }
    }

    @Test func nothingPrintedHoldsAToken() async throws {
        try await DevBackend.withServer { backend in
            var printed = try await signIn(backend).everything
            for command in ["status", "list", "status --json", "show 9999", "create --title  --body "] {
                let arguments = command.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
                let run = try await home.run(arguments + ["--base-url", backend.baseURL.absoluteString])
                printed += run.everything
            }
            for secret in try secrets() { #expect(!printed.contains(secret)) }
        }
    }

    @Test func statusSaysWhoIsSignedInAndLogoutEndsIt() async throws {
        try await DevBackend.withServer { backend in
            _ = try await signIn(backend)
            let before = try await articles(backend, "status", "--json")
            #expect(try before.object()["state"] as? String == "signedIn")
            #expect(before.status == 0)

            #expect(try await articles(backend, "logout").status == 0)
            #expect(backend.statistics.logouts == 1)
            let after = try await articles(backend, "status", "--json")
            #expect(try after.object()["state"] as? String == "signedOut")
            #expect(after.status == 77)
            #expect(try await articles(backend, "logout").output == "nobody was signed in\n")
        }
    }

    @Test func aSessionTheServerEndedIsNamedOnceAndGone() async throws {
        try await DevBackend.withServer { backend in
            let login = try await signIn(backend)
            let user = try #require((try login.object()["user"] as? [String: Any])?["id"] as? Int)
            let file = try home.tokenFile()
            try await backend.revokeSessions(ofUser: Int64(user))
            let run = try await articles(backend, "list")
            #expect(run.oneError?.hasPrefix("articles: the session is over; sign in with") == true)
            #expect(run.status == 77)
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }
    }

    @Test func aRunThatIsAboutToEndBeginsNoRefreshItCouldNotFinish() async throws {
        try await DevBackend.withServer { backend in
            _ = try await signIn(backend)
            // The token looks as if it had half a minute left, in which requests go out with it.
            let file = try home.tokenFile()
            let soon = Int(Date().timeIntervalSinceReferenceDate) + 30
            let stored = String(decoding: try Data(contentsOf: file), as: UTF8.self)
            let changed = stored.replacing(/"expiresAt":[0-9.]+/, with: "\"expiresAt\":\(soon)")
            #expect(changed != stored)
            try FileHandle(forWritingTo: file).write(contentsOf: Data(changed.utf8))
            try FileHandle(forWritingTo: file).truncate(atOffset: UInt64(changed.utf8.count))

            #expect(try await articles(backend, "list").status == 0)
            #expect(backend.statistics.refreshes.received == 0)
        }
    }

    @Test func theDevelopmentProviderSignsIn() async throws {
        try await DevBackend.withServer { backend in
            let run = try await articles(
                backend, "login", "social", "--provider", "kakao", "--development-name", "Grace")
            #expect(run.output == "signed in as Grace (user 2)\n")
            #expect(backend.statistics.socialLogins == 1)
        }
    }
}
