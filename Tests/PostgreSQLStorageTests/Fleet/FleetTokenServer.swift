#if PostgreSQL
import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import Foundation
import TestSupport

/// The authorization server of a fleet. It rotates tokens, honours idempotency keys, counts, and runs a test's plans at
/// certain refreshes.
final class FleetTokenServer: Sendable {
    /// Whether a response arrives.
    enum Fate: Sendable {
        case isGiven
        case isLost
    }

    typealias Plan = @Sendable (_ process: SpawnedProcess, _ server: FleetTokenServer) async -> Fate

    private struct State {
        var requests = 0
        var underWay = 0
        var mostAtOnce = 0
    }

    let server = RotatingTokenServer(tolerating: .sameKey)

    /// The most refreshes that were under way at one time.
    var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }

    /// The number of refreshes that were repeated with their key after a lost response.
    var replays: Int { server.repetitions }

    private let plans: [Int: Plan]
    private let state = Locked(State())

    /// Starts the server.
    ///
    /// - Parameter plans: What to do between a rotation and its response, by the number of the refresh, from 1.
    init(plans: [Int: Plan]) {
        self.plans = plans
    }

    /// Exchanges a refresh token.
    ///
    /// - Returns: The words of the response; `nil` if none is given.
    func exchange(_ refreshToken: String, key: String, for process: SpawnedProcess) async -> [String]? {
        let number = state.withLock { state in
            state.requests += 1
            state.underWay += 1
            state.mostAtOnce = max(state.mostAtOnce, state.underWay)
            return state.requests
        }
        let tokens = try? server.refresh(refreshToken, key: key)
        if let plan = plans[number], case .isLost = await plan(process, self) { return nil }
        leave()
        guard let tokens, let next = tokens.refreshToken else { return [] }
        return [tokens.accessToken, next]
    }

    /// Ends a refresh whose process is about to be killed.
    func leave() {
        state.withLock { $0.underWay -= 1 }
    }
}

extension TokenBundle {
    /// A bundle whose tokens contain its generation.
    static func fleet(_ generation: Int, session: String = "fleet-session") -> TokenBundle {
        TokenBundle(
            accessToken: "access-ada1-\(generation)",
            refreshToken: "refresh-ada1-\(generation)",
            session: SessionID(rawValue: session),
            generation: generation
        )
    }
}

/// The error that a call throws, if it is an error of a store.
func storeFailure(of call: () async throws -> Void) async -> TokenStoreError? {
    do {
        try await call()
        return nil
    } catch {
        return error as? TokenStoreError
    }
}
#endif
