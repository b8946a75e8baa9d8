import AuthInterface
import Foundation
import NetworkCore
import OAuth2Flows
import PostgreSQLStorage
import TokenRefresh

// The samples of the article *Connect accounts of users*.

#if PostgreSQL
func connections(
    in database: PostgreSQLTokenStore, handler: any TokenRefreshHandler
) -> SessionRegistry<String> {
    SessionRegistry(limit: 10_000) { user in
        TokenRefreshCoordinator(store: database.store(for: user), handler: handler)
    }
}
#endif

#if canImport(CryptoKit) || Crypto
/// The session of a browser at a server, which is found by its cookie.
protocol BrowserSession: Sendable {
    func set(_ name: String, to value: Data) async throws
    func remove(_ name: String) async throws -> Data?
}

struct Connections {
    let codeSignIn: OAuth2CodeSignIn
    let sessions: SessionRegistry<String>
    let redirectURI: URL

    func connect(_ browser: any BrowserSession) async throws -> URL {
        let (page, state) = try await codeSignIn.begin(redirectingTo: redirectURI)
        try await browser.set("sign-in", to: JSONEncoder().encode(state))
        return page  // redirect the browser to it
    }

    func callback(_ query: String, for user: String, of browser: any BrowserSession) async throws {
        guard let stored = try await browser.remove("sign-in"), let url = URL(string: "\(redirectURI)?\(query)") else {
            throw OAuth2SignInError(.expired, reason: "no sign-in has begun in this browser")
        }
        let state = try JSONDecoder().decode(OAuth2SignInState.self, from: stored)
        let (tokens, _) = try await codeSignIn.finish(callback: url, state: state)
        try await sessions[user].signIn(tokens)
    }
}
#endif

func notes(of user: String, _ sessions: SessionRegistry<String>, over api: NetworkClient) async throws -> [Note] {
    try await api.authenticated(by: sessions[user]).send(.notes)
}
