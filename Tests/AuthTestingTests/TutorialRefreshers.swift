import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting

/// What the tutorials' refreshers can do.
protocol TutorialRefresher: Actor {
    var endings: Int { get }
    func signIn(_ tokens: TokenRefreshResult) async throws
    func signOut() async throws
    func token() async throws -> String
    func replacement(for refused: String) async throws -> String
}

/// The refresher of many tutorials: an actor that awaits without storing its task. Every caller enters it while the
/// first one waits, and any error is a logout.
actor AwaitingRefresher: TutorialRefresher {
    private let scene: RaceScene
    private var tokens: TokenRefreshResult?
    private(set) var endings = 0

    init(_ scene: RaceScene) { self.scene = scene }

    func signIn(_ tokens: TokenRefreshResult) async throws {
        self.tokens = tokens
        try await scene.store.save(tokens.bundle)
    }

    func signOut() async throws {
        tokens = nil
        try await scene.store.delete()
    }

    func token() async throws -> String {
        if let tokens { return tokens.accessToken }
        guard let stored = try? await scene.store.load() else { throw end() }
        return stored.accessToken
    }

    func replacement(for refused: String) async throws -> String {
        guard let refreshToken = tokens?.refreshToken else { throw end() }
        do {
            let new = try await scene.handler.refresh(TokenRefreshRequest(refreshToken: refreshToken))
            tokens = new
            try await scene.store.save(new.bundle)
            return new.accessToken
        } catch {
            throw end()
        }
    }

    private func end() -> any Error {
        tokens = nil
        endings += 1
        return AuthenticationError(.notSignedIn)
    }
}

/// The refresher of better tutorials: it stores its task, compares tokens, reads the clock, and ends the session on a
/// rejection only. It passes a burst of refusals, and little else.
actor TaskStoringRefresher: TutorialRefresher {
    private let scene: RaceScene
    private var tokens: TokenRefreshResult?
    private var expiry: Duration?
    private var flight: Task<String, any Error>?
    private(set) var endings = 0

    init(_ scene: RaceScene) { self.scene = scene }

    func signIn(_ tokens: TokenRefreshResult) async throws {
        use(tokens)
        try await scene.store.save(tokens.bundle)
    }

    func signOut() async throws {
        tokens = nil
        try await scene.store.delete()
    }

    func token() async throws -> String {
        guard let tokens else { throw AuthenticationError(.notSignedIn) }
        if let expiry, scene.clock.uptime >= expiry { return try await refreshed() }
        return tokens.accessToken
    }

    func replacement(for refused: String) async throws -> String {
        if let tokens, tokens.accessToken != refused { return tokens.accessToken }
        return try await refreshed()
    }

    private func refreshed() async throws -> String {
        if let flight { return try await flight.value }
        guard let refreshToken = tokens?.refreshToken else { throw AuthenticationError(.notSignedIn) }
        let flight = Task {
            defer { self.flight = nil }
            do {
                let new = try await scene.handler.refresh(TokenRefreshRequest(refreshToken: refreshToken))
                use(new)
                try await scene.store.save(new.bundle)
                return new.accessToken
            } catch let error as TokenRefreshError where error.code == .rejected {
                tokens = nil
                endings += 1
                throw error
            }
        }
        self.flight = flight
        return try await flight.value
    }

    private func use(_ new: TokenRefreshResult) {
        tokens = new
        expiry = new.expiresIn.map { scene.clock.uptime + $0 }
    }
}

extension TokenRefreshResult {
    fileprivate var bundle: TokenBundle { TokenBundle(accessToken: accessToken, refreshToken: refreshToken) }
}

extension RaceSubject {
    init(_ old: some TutorialRefresher) {
        self.init(
            signIn: { try await old.signIn($0) },
            signOut: { try await old.signOut() },
            token: { try await old.token() },
            replacement: { try await old.replacement(for: $0) },
            endings: { await old.endings }
        )
    }
}
