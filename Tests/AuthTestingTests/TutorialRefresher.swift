import AuthInterface
import AuthTesting
import ContractTesting

/// The refresher of many tutorials: an actor that awaits without storing its task. Every caller enters it while the
/// first one waits, and any error is a logout.
///
/// That of better tutorials stores its task, compares tokens, reads the clock, and ends the session on a rejection
/// only. It passes a burst of refusals, and little else.
actor TutorialRefresher {
    private let scene: RaceScene
    private let storesTask: Bool
    private var tokens: TokenRefreshResult?
    private var expiry: Duration?
    private var flight: Task<String, any Error>?
    private(set) var endings = 0

    init(_ scene: RaceScene, storesTask: Bool) {
        self.scene = scene
        self.storesTask = storesTask
    }

    func signIn(_ tokens: TokenRefreshResult) async throws { try await use(tokens) }

    func signOut() async throws {
        tokens = nil
        try await scene.store.delete()
    }

    func token() async throws -> String {
        guard let tokens else {
            guard !storesTask, let stored = try? await scene.store.load() else { throw end() }
            return stored.accessToken
        }
        let isExpired = expiry.map { scene.clock.uptime >= $0 } ?? false
        return storesTask && isExpired ? try await replacement(for: nil) : tokens.accessToken
    }

    func replacement(for refused: String?) async throws -> String {
        guard storesTask else { return try await refreshed() }
        if let tokens, let refused, tokens.accessToken != refused { return tokens.accessToken }
        if let flight { return try await flight.value }
        let flight = Task {
            defer { self.flight = nil }
            return try await refreshed()
        }
        self.flight = flight
        return try await flight.value
    }

    private func refreshed() async throws -> String {
        guard let refreshToken = tokens?.refreshToken else { throw end() }
        do {
            let new = try await scene.handler.refresh(TokenRefreshRequest(refreshToken: refreshToken))
            try await use(new)
            return new.accessToken
        } catch {
            throw storesTask && (error as? TokenRefreshError)?.code != .rejected ? error : end()
        }
    }

    private func use(_ new: TokenRefreshResult) async throws {
        tokens = new
        expiry = new.expiresIn.map { scene.clock.uptime + $0 }
        try await scene.store.save(TokenBundle(accessToken: new.accessToken, refreshToken: new.refreshToken))
    }

    private func end() -> any Error {
        if tokens != nil || !storesTask { endings += 1 }
        tokens = nil
        return AuthenticationError(.notSignedIn)
    }
}

extension RaceSubject {
    init(tutorial scene: RaceScene, storesTask: Bool = false) {
        let old = TutorialRefresher(scene, storesTask: storesTask)
        self.init(
            signIn: { try await old.signIn($0) }, signOut: { try await old.signOut() },
            token: { try await old.token() }, replacement: { try await old.replacement(for: $0) },
            endings: { await old.endings })
    }
}
