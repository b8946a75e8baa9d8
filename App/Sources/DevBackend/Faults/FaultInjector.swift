import NIOConcurrencyHelpers

/// Decides what goes wrong with a request, by the current plan and its gates.
final class FaultInjector: Sendable {
    struct Decision: Sendable, Hashable {
        var delay = Duration.zero
        /// How long the response waits after the handler has run.
        var responseDelay = Duration.zero
        var interruption: FaultAction?
        var losesResponse = false
        /// The bytes of the response's body after which the connection is closed.
        var cut: Int?
    }

    private struct PlacedGate {
        let method: String?
        let pattern: PathPattern
        let position: Gate.Position
        let gate = Gate()
    }

    private struct State {
        var plan: FaultPlan
        var gates: [PlacedGate] = []
    }

    private let state: NIOLockedValueBox<State>

    init(plan: FaultPlan) {
        state = NIOLockedValueBox(State(plan: plan))
    }

    var plan: FaultPlan {
        get { state.withLockedValue(\.plan) }
        set { state.withLockedValue { $0.plan = newValue } }
    }

    func decision(method: String, path: String) -> Decision {
        state.withLockedValue { state in
            var decision = Decision()
            for index in state.plan.rules.indices {
                let rule = state.plan.rules[index]
                guard rule.remaining ?? 1 > 0, rule.matches(method: method, path: path) else { continue }
                if let remaining = rule.remaining { state.plan.rules[index].remaining = remaining - 1 }
                switch rule.action {
                case .jitter(let bound): decision.delay += bound * Double.random(in: 0..<1)
                case .delayResponse(let duration): decision.responseDelay += duration
                case .closeAfterHandler: decision.losesResponse = true
                case .cutResponse(let count): decision.cut = count
                case .respond, .refuseToken, .redirect, .gateway, .closeBeforeHandler:
                    decision.interruption = rule.action
                    return decision
                }
            }
            return decision
        }
    }

    func hold(method: String?, path: String, at position: Gate.Position) -> Gate {
        let placed = PlacedGate(method: method, pattern: PathPattern(path), position: position)
        state.withLockedValue { $0.gates.append(placed) }
        return placed.gate
    }

    func passGates(_ position: Gate.Position, method: String, path: String) async {
        let gates = state.withLockedValue { state in
            state.gates.filter { placed in
                placed.position == position && (placed.method == nil || placed.method == method)
                    && placed.pattern.matches(path)
            }
        }
        for placed in gates { await placed.gate.pass() }
    }

    /// Opens every gate: a server that stops holds no request.
    func openAllGates() {
        for placed in state.withLockedValue(\.gates) { placed.gate.open() }
    }
}
