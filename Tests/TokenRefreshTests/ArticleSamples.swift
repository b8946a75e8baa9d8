import AuthInterface
import AuthTesting
import Foundation
import Storage
import TestSupport
import Testing
import TokenRefresh

/// The samples of the module's articles, each as its article prints it, with what a reader has around it.
private struct ArticleSamples {
    let store: any TokenStore
    let handler: any TokenRefreshHandler

    func show(_ shown: Any?) {}

    func overview() async throws {
        let session = TokenRefreshCoordinator(store: store, handler: handler)

        let token = try await session.token()
        // … send the request with token.value; when the server refuses it:
        let fresh = try await session.replacement(for: token)
        show(fresh)
    }

    func ownTokens() {
        struct OwnTokens: Decodable {
            let access, refresh: String
            let validUntil: TimeInterval
        }

        let own = KeychainPredecessor.bundle(at: KeychainLocation(service: "articles", account: "tokens")) { data in
            let tokens = try JSONDecoder().decode(OwnTokens.self, from: data)
            return TokenBundle(
                accessToken: tokens.access, refreshToken: tokens.refresh,
                expiresAt: Date(timeIntervalSince1970: tokens.validUntil))
        }
        show(own)
    }
}

func carryOver(
    _ tokens: TokenRefreshResult?, into session: TokenRefreshCoordinator, removeOld: () -> Void
) async throws {
    if let tokens, case .signedOut(.never) = try await session.restore() { try await session.signIn(tokens) }
    if session.status.isStored { removeOld() }
}

@Suite struct ArticleSampleTests {
    private let old = TokenRefreshResult(accessToken: "access-0", refreshToken: "refresh-0")

    private func session(_ store: any TokenStore) -> TokenRefreshCoordinator {
        TokenRefreshCoordinator(store: store, handler: ScriptedRefreshHandler())
    }

    @Test func `each Swift sample of the module's articles is compiled`() throws {
        let samples = try DocumentedSamples(of: "TokenRefresh", compiledIn: #filePath)
        #expect(samples.count >= 3)
        #expect(samples.missing == [])
    }

    @Test func `tokens of another place are carried over once, and over no session`() async throws {
        let store = MemoryTokenStore()
        var removals = 0
        try await carryOver(old, into: session(store)) { removals += 1 }
        let bundle = try #require(await store.load())
        #expect(bundle.refreshToken == "refresh-0" && removals == 1)
        // The next start finds both, as after a crash.
        try await carryOver(
            TokenRefreshResult(accessToken: "older", refreshToken: "older"), into: session(store)
        ) { removals += 1 }
        #expect(await store.load() == bundle && removals == 2)
    }

    @Test func `a session that has ended is not replaced by the tokens of another place`() async throws {
        let store = MemoryTokenStore()
        try await session(store).signIn(old)
        try await session(store).signOut()
        var removals = 0
        try await carryOver(old, into: session(store)) { removals += 1 }
        #expect(await store.load() == nil && removals == 1)
    }

    @Test func `while the store fails, the tokens of another place stay`() async throws {
        var removals = 0
        let unreadable = FaultyTokenStore(MemoryTokenStore())
        unreadable.fail(.load)
        await #expect(throws: AuthenticationError.self) {
            try await carryOver(old, into: session(unreadable)) { removals += 1 }
        }
        let readOnly = FaultyTokenStore(MemoryTokenStore())
        readOnly.fail(.save)
        try await carryOver(old, into: session(readOnly)) { removals += 1 }
        #expect(removals == 0)
        readOnly.recover(.save)
    }
}
