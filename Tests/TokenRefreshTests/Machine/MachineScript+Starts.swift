import AuthInterface
import ConcurrencyPrimitives
import Foundation
import Testing

@testable import TokenRefresh

// Where the scripts of the tables start, and what they find in the store.

extension MachineScript {
    /// A machine in which ada has signed in and is stored. Her first access token is valid for an hour.
    static func signedIn(
        isShared: Bool = false, lifetime: Duration? = .seconds(3_600), refreshToken: String? = "refresh-ada-0",
        policy: TokenRefreshPolicy = .init(), tolerance: ReplayTolerance = .none
    ) -> MachineScript {
        var script = MachineScript(policy: policy, isShared: isShared, tolerance: tolerance)
        _ = script.signIn(900, as: "ada", lifetime: lifetime, refreshToken: refreshToken, isStored: true)
        return script
    }

    /// A machine in which ada's first token was refused, or caller 1 has requested a refresh. Where the store is shared
    /// it waits for the lease; otherwise it has called.
    static func refreshing(
        for request: CallerRequest? = nil, isShared: Bool = false, policy: TokenRefreshPolicy = .init(),
        tolerance: ReplayTolerance = .none
    ) -> MachineScript {
        var script = signedIn(isShared: isShared, policy: policy, tolerance: tolerance)
        let refusal = TokenRefusal(of: script.token(0))
        let actions = script.send(.requested(request ?? .replacement(refusal), WaiterID(number: 1)))
        #expect(actions == [isShared ? "lease" : "call g0"])
        return script
    }

    /// A machine that has called with ada's first tokens, under the lease where the store is shared. Caller 1 waits.
    static func calling(
        for request: CallerRequest? = nil, isShared: Bool = true, policy: TokenRefreshPolicy = .init(),
        tolerance: ReplayTolerance = .none
    ) -> MachineScript {
        var script = refreshing(for: request, isShared: isShared, policy: policy, tolerance: tolerance)
        if isShared { #expect(script.leased(reading: .stored("ada", 0)) == ["call g0"]) }
        return script
    }

    /// A machine in which ada's token has been refreshed once, just now.
    static func refreshedOnce(
        lifetime: Duration? = .seconds(3_600), isShared: Bool = false, policy: TokenRefreshPolicy = .init()
    ) -> MachineScript {
        var script = signedIn(isShared: isShared, policy: policy)
        _ = script.refused(901, generation: 0, reading: .stored("ada", 0))
        _ = script.finish(lifetime: lifetime)
        return script
    }

    /// A machine that stores the intent of ada's first refresh under the lease, some time after the request.
    static func recording(
        for request: CallerRequest? = nil, tolerance: ReplayTolerance = .none, leasedAfter time: Duration = .zero
    ) -> MachineScript {
        var script = refreshing(for: request, isShared: true, tolerance: tolerance)
        script.recordsIntents = false
        _ = script.pass(time)
        #expect(script.leased(reading: .stored("ada", 0)) == ["intent ada g0"])
        return script
    }

    /// A machine that has found a session in its store, for caller 1.
    static func started(isShared: Bool = false, with bundle: TokenBundle) -> MachineScript {
        var script = MachineScript(isShared: isShared)
        #expect(script.restore(1) == ["load"])
        _ = script.loaded(.success(.active(bundle)))
        return script
    }

    /// Caller 1 asks for a token, and the store is read for the first time.
    mutating func start(with bundle: TokenBundle) -> [String] {
        #expect(ask(1) == ["load"])
        return loaded(.success(.active(bundle)))
    }

    /// A machine in which ada has signed in, whose subject is known.
    static func known(
        as subject: TokenSubject? = .ada, scope: String? = nil, boundTo key: String? = nil, isShared: Bool = false,
        policy: TokenRefreshPolicy = .init(), tolerance: ReplayTolerance = .none
    ) -> MachineScript {
        var script = MachineScript(policy: policy, isShared: isShared, tolerance: tolerance)
        let tokens = TokenRefreshResult.issued("ada-0", of: subject, scope: scope, boundTo: key)
        _ = script.signIn(900, as: "ada", with: tokens, isStored: true)
        return script
    }

    /// A machine of a shared store that could not store ada's refreshed tokens. It has the lease, and uses them.
    static func unsaved() -> MachineScript {
        var script = calling()
        #expect(script.respond(isStored: false) == ["save ada g1", "1: ada g1"])
        return script
    }

    /// A machine that has released the lease during its call, as the process is about to be suspended.
    static func suspended(for request: CallerRequest? = nil) -> MachineScript {
        var script = calling(for: request)
        #expect(script.send(.suspensionNear) == ["mark ada g0"])
        #expect(script.wrote() == ["release"])
        return script
    }

    /// A machine in which the save of bob's sign-in has failed, and his token was refused. It reads the store.
    static func unstored(isShared: Bool = true) -> MachineScript {
        var script = MachineScript(isShared: isShared)
        script.recordsIntents = false
        #expect(script.signIn(1, as: "bob", isStored: false) == ["save bob g0", "signed in bob", "1: done"])
        #expect(script.refused(2, generation: 0, of: "bob") == [isShared ? "lease" : "reread"])
        if isShared { #expect(script.leased() == ["reread"]) }
        return script
    }

    /// Ada's first tokens, with the intent that another process of this host has recorded so many seconds ago.
    func recordedByRival(_ age: TimeInterval = 0) -> TokenBundle {
        .stored("ada", 0).with(refreshIntent: RefreshIntent(idempotencyKey: "key-1", owner: .rival, date: date - age))
    }
}

extension TokenRefreshPolicy {
    /// Pauses of 1, 2, 4 … seconds, and of the store 1 and 2 seconds: none is random.
    static let withoutJitter = with {
        $0.backoff = Backoff(base: .seconds(1), limit: .seconds(60), floor: .seconds(60))
        $0.storeBackoff.floor = .seconds(60)
    }

    static func with(_ change: (inout TokenRefreshPolicy) -> Void) -> TokenRefreshPolicy {
        var policy = TokenRefreshPolicy()
        change(&policy)
        return policy
    }
}

extension MachineClock {
    init(at now: Instant, _ policy: TokenRefreshPolicy = .init()) {
        let owner = ProcessIdentity(host: "host", process: "p1")
        self.init(settings: MachineSettings(policy: policy, isShared: false, owner: owner, tolerance: .none))
        advance(to: now)
    }
}

extension TokenBundle {
    /// A bundle as the store holds it. `clockSkew`: not zero where its expiry was counted on the server's clock.
    static func stored(
        _ user: String, _ generation: Int, accessToken: String? = nil, refreshToken: String? = nil,
        expiresAt: Date? = nil, clockSkew: TimeInterval = 0, receivedAt: Date? = nil, signedInAt: Date? = nil,
        boundTo key: String? = nil, ordinal: SessionOrdinal? = nil
    ) -> TokenBundle {
        TokenBundle(
            accessToken: accessToken ?? "access-\(user)-\(generation)",
            refreshToken: refreshToken ?? "refresh-\(user)-\(generation)", expiresAt: expiresAt, clockSkew: clockSkew,
            session: SessionID(rawValue: user), generation: generation, receivedAt: receivedAt, signedInAt: signedInAt,
            binding: key.map { TokenBinding(thumbprint: $0) }, ordinal: ordinal)
    }

    /// Ada's first tokens with the intent of another process, whose call failed `ago` seconds before a date.
    static func failed(
        _ pause: Duration, _ ago: TimeInterval = 0, at date: Date = MachineScript.start, isAmbiguous: Bool = false,
        status: Int = 429, count: Int? = nil, stepUp: StepUpChallenge? = nil
    ) -> TokenBundle {
        var failure = RefreshIntent.Failure(date: date - ago, pause: pause, isAmbiguous: isAmbiguous, status: status)
        failure.count = count
        failure.stepUp = stepUp
        return .stored("ada", 0).with(
            refreshIntent: RefreshIntent(
                idempotencyKey: "key", owner: .rival, date: date - ago - 1, failure: failure))
    }
}

extension TokenRefreshResult {
    /// Tokens for an hour.
    static func issued(
        _ name: String, refreshToken: String? = nil, of subject: TokenSubject? = nil, scope: String? = nil,
        boundTo key: String? = nil
    ) -> TokenRefreshResult {
        var tokens = TokenRefreshResult(
            accessToken: "access-\(name)", refreshToken: refreshToken ?? "refresh-\(name)",
            expiresIn: .seconds(3_600), subject: subject, scope: scope)
        tokens.binding = key.map { TokenBinding(thumbprint: $0) }
        return tokens
    }
}

extension TokenSubject {
    static let ada = TokenSubject(issuer: "https://issuer.example", id: "ada")
    static let eve = TokenSubject(issuer: "https://issuer.example", id: "eve")
}

extension ProcessIdentity {
    /// Another process of this host.
    static let rival = ProcessIdentity(host: "host", process: "p2")
}

extension StoredSession {
    static func ended(
        _ user: String, _ reason: SignOutReason = .byUser, at date: Date = MachineScript.start
    ) -> StoredSession {
        .tombstone(SessionTombstone(session: SessionID(rawValue: user), reason: reason, date: date))
    }
}

extension SessionOrdinal {
    /// The ordinal of a sign-in in this second of 1970.
    static func second(_ seconds: Double) -> SessionOrdinal { SessionOrdinal(at: Date(timeIntervalSince1970: seconds)) }
}

extension TokenStoreError {
    static let locked = TokenStoreError(.unavailable, reason: "locked")
    static let busy = TokenStoreError(.busy, reason: "another process has it")
}
