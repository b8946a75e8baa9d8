#if PostgreSQL
import AuthInterface
import AuthTesting

/// The authorisation server of a fleet: rotates, counts, and does at certain refreshes what a test has planned.
final class RefreshDesk: Sendable {
    /// What becomes of an answer.
    enum Fate: Sendable {
        case isGiven
        case isLost
    }

    typealias Plan = @Sendable (_ peer: Fleet.Peer, _ desk: RefreshDesk) async -> Fate

    private struct State {
        var requests = 0
        var underWay = 0
        var mostAtOnce = 0
    }

    let server = RotatingTokenServer(hasGraceWindow: true)

    /// The most refreshes that were under way at one time.
    var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }

    /// How often a token was used again whose successor nobody had used yet: an answer that was lost.
    var replays: Int { server.requests - server.rotations - server.reuses }

    private let plans: [Int: Plan]
    private let state = Locked(State())

    /// Opens the desk.
    ///
    /// - Parameter plans: What to do between a rotation and its answer, by the number of the refresh, from 1.
    init(plans: [Int: Plan]) {
        self.plans = plans
    }

    /// Exchanges a refresh token.
    ///
    /// - Returns: The words of the answer; `nil` if none is given.
    func answer(_ refreshToken: String, to peer: Fleet.Peer) async -> [String]? {
        let number = state.withLock { state in
            state.requests += 1
            state.underWay += 1
            state.mostAtOnce = max(state.mostAtOnce, state.underWay)
            return state.requests
        }
        let tokens = try? server.refresh(refreshToken)
        if let plan = plans[number], case .isLost = await plan(peer, self) { return nil }
        leave()
        guard let tokens, let next = tokens.refreshToken else { return [] }
        return [tokens.accessToken, next]
    }

    /// Ends a refresh whose peer is about to die: nobody can tell its death from its successor's first breath.
    func leave() {
        state.withLock { $0.underWay -= 1 }
    }
}
#endif
