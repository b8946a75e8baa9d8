import AuthInterface
import AuthTesting
import Foundation
import Storage
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

    func followInALog(log: @escaping @Sendable (String) -> Void) {
        let session = TokenRefreshCoordinator(store: store, handler: handler) { event in
            switch event {
            case .refreshFailed(_, let error, let pause): log("refresh failed: \(error); again after \(pause)")
            case .storeFailed(let error): log("store: \(error)")
            case .signedOut(let reason): log("signed out: \(reason)")
            default: log("\(event)")
            }
        }
        show(session)
    }

    func remember(user: String, log: (String) -> Void) async throws {
        let journal = FileSessionJournal(application: "notes", account: user, storeName: "the Keychain")
        let session = TokenRefreshCoordinator(store: store, handler: handler, journal: journal)
        if case .signedOut(.lost(let sighting)) = try await session.restore() {
            log("the tokens have vanished: \(sighting?.description ?? "")")
        }
    }

    func accounts(_ store: @escaping @Sendable (String) -> any TokenStore) async throws {
        let sessions = SessionRegistry<String> { account in
            TokenRefreshCoordinator(store: store(account), handler: handler)
        }
        let token = try await sessions["ada"].token()
        show(token)
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

func ending(of session: TokenRefreshCoordinator) -> String? {
    guard case .expired(let ending) = session.status.lastEnding else { return nil }
    return ending.description  // HTTP 400, invalid_grant, request 5f0c, process articles(812)
}

struct SignInNeeded: Error {
    let account: String
    let reason: SignOutReason
}

func switchAccount(to account: String, in sessions: SessionRegistry<String>) async throws -> TokenRefreshCoordinator {
    let session = sessions[account]
    if case .signedOut(let reason) = try await session.restore() {
        throw SignInNeeded(account: account, reason: reason)
    }
    return session
}

func remove(_ account: String, from sessions: SessionRegistry<String>) async throws {
    try await sessions[account].signOut()  // forgets the tokens, then revokes them if the handler can
    sessions.release(account)
}

@Suite(.timeLimit(.minutes(10))) struct ArticleSampleTests {
    private let old = TokenRefreshResult(accessToken: "access-0", refreshToken: "refresh-0")

    private func session(_ store: any TokenStore) -> TokenRefreshCoordinator {
        TokenRefreshCoordinator(store: store, handler: ScriptedRefreshHandler())
    }

    @Test func `tokens of another place are carried over once, over no session and over no end`() async throws {
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
        try await session(store).signOut()
        try await carryOver(old, into: session(store)) { removals += 1 }
        #expect(await store.load() == nil && removals == 3)
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
