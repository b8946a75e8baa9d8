import AuthInterface

@testable import TokenRefresh

/// A world of two processes that share a session, or none yet, and how much may still happen in it.
struct ExploredWorld {
    var world: World
    var bounds: ExplorationBounds

    init(_ model: ExplorationModel, _ bounds: ExplorationBounds) {
        world = World(plan: WorldPlan(exploring: model, bounds), fault: model.flaw)
        self.bounds = bounds
        for process in 0...1 { world.processes[process].isAlive = !model.startsEmpty }
        guard !model.startsEmpty else { return }
        // The session began before: neither of the two has signed in to it.
        let grant = world.server.signIn("ada", at: world.now)
        let ordinal = SessionOrdinal(at: world.instant.date)
        world.server.families[0].ordinal = ordinal
        world.store.content = .active(
            TokenBundle(
                accessToken: "a\(grant)", refreshToken: "r\(grant)", session: world.server.session(0),
                subject: AuthorizationServer.subject(of: "ada"), ordinal: ordinal))
        world.server.noteStored(grant)
        for process in 0...1 {
            world.ask(process, for: .restore, .restore)
            world.goOnToTheEnd()
        }
    }

    mutating func take(_ choice: Choice) {
        let process = choice.process
        if let resource = choice.resource { bounds.spend(resource) }
        // The world before the step is kept, and shares the other process.
        world.processes[process] = world.processes[process].copy()
        // All rates are zero: nothing is left to chance.
        var draws = RandomDraws(0)
        for step in choice.steps { world.take(step, &draws) }
        // No process waits for what is on the way back to one that was killed.
        world.calls.removeAll { $0.isOrphan && $0.phase != .sent }
        // A request whose refused token was replaced has been served.
        world.processes[process].requests.removeAll { !$0.isWaiting && $0.kind != .token }
    }
}
