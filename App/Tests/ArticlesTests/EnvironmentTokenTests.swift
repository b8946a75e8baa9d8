import AuthInterface
import DevBackend
import Foundation
import ProgramTesting
import Testing

/// An access token in `ARTICLES_TOKEN`, in place of the stored session.
@Suite(.home) struct EnvironmentTokenTests {
    /// Removes the stored session, and returns its access token.
    private func takeToken() async throws -> String {
        let token = try await home.tokens(of: backend).accessToken
        try FileManager.default.removeItem(at: home.tokenFile())
        return token
    }

    @Test(.signedIn) func `a token from the environment is used, and neither stored nor printed`() async throws {
        let token = try await takeToken()
        let environment = ["ARTICLES_TOKEN": token]
        var printed = ""
        for command in [["list"], ["create", "--title", "a", "--body", "b", "--json"], ["status"]] {
            let run = try await home.run(command + base, environment)
            #expect(run.status == 0, "\(run.errors)")
            printed += run.allOutput
        }
        #expect(printed.contains("store\tARTICLES_TOKEN") && printed.contains("signed in as Ada"))
        for part in token.split(separator: ".") { #expect(!printed.contains(part)) }
        #expect(try await home.tokenStore(of: backend).load() == nil)
        #expect(try await home.run(["list"] + base).status == 77)
    }

    @Test(.signedIn)
    func `with a token from the environment no session is changed, and none is refreshed`() async throws {
        let token = try await takeToken()
        let requests = backend.statistics.requests
        // Without the check, the port that is taken ends the last one.
        for command in [Home.login(as: "Grace"), ["logout"], ["web", "--port", "\(backend.baseURL.port ?? 0)"]] {
            try await home.run(command + base, ["ARTICLES_TOKEN": token]).expectError(78, "unset it first")
        }
        #expect(backend.statistics.requests == requests)
        try await backend.expireAccessTokens()
        try await home.run(["list"] + base, ["ARTICLES_TOKEN": token])
            .expectError(77, "articles: the server does not accept the token in ARTICLES_TOKEN")
        #expect(backend.statistics.refreshes.received == 0 && backend.statistics.logouts == 0)
    }

    @Test(arguments: ["fixture token", "fixture\nX-Injected: 1", "fixture\r", "f\u{EF}xture"])
    func `a token that no header field can carry is an error without the token`(_ token: String) async throws {
        let run = try await home.run(["list"], ["ARTICLES_TOKEN": token])
        run.expectError(78, "articles: ARTICLES_TOKEN has a space")
        #expect(!run.allOutput.contains("xture"))
    }
}
