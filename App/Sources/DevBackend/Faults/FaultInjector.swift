import Foundation
import NIOConcurrencyHelpers

/// The plan in force and the gates set up: decides what goes wrong with one request.
final class FaultInjector: Sendable {
    /// What happens to one request.
    struct Decision: Sendable, Hashable {
        var delay = Duration.zero
        /// How long the response waits after the handler has run.
        var responseDelay = Duration.zero
        /// The action that takes the handler's place, if any.
        var interruption: FaultAction?
        var losesResponse = false
    }

    private struct PlacedGate {
        let method: String?
        let pattern: PathPattern
        let position: Gate.Position
        let gate: Gate
    }

    private struct State {
        var plan: FaultPlan
        var random: SplitMix64
        var gates: [PlacedGate] = []
        var isDraining = false
    }

    private let state: NIOLockedValueBox<State>

    init(plan: FaultPlan) {
        state = NIOLockedValueBox(State(plan: plan, random: SplitMix64(seed: plan.seed)))
    }

    /// The plan in force, its counts as they are now. Setting it starts its seed anew.
    var plan: FaultPlan {
        get { state.withLockedValue(\.plan) }
        set {
            state.withLockedValue { state in
                state.plan = newValue
                state.random = SplitMix64(seed: newValue.seed)
            }
        }
    }

    func decision(method: String, path: String) -> Decision {
        state.withLockedValue { state in
            var decision = Decision()
            for index in state.plan.rules.indices {
                let rule = state.plan.rules[index]
                guard rule.remaining ?? 1 > 0, rule.matches(method: method, path: path) else { continue }
                if let remaining = rule.remaining { state.plan.rules[index].remaining = remaining - 1 }
                switch rule.action {
                case .delay(let duration): decision.delay += duration
                case .jitter(let bound): decision.delay += bound * state.random.nextFraction()
                case .delayResponse(let duration): decision.responseDelay += duration
                case .jitterResponse(let bound): decision.responseDelay += bound * state.random.nextFraction()
                case .closeAfterHandler: decision.losesResponse = true
                case .respond, .refuseToken, .redirect, .gateway, .closeBeforeHandler:
                    decision.interruption = rule.action
                    return decision
                }
            }
            return decision
        }
    }

    func hold(method: String?, path: String, at position: Gate.Position) -> Gate {
        let gate = Gate()
        let isDraining = state.withLockedValue { state in
            let pattern = PathPattern(path)
            state.gates.append(PlacedGate(method: method, pattern: pattern, position: position, gate: gate))
            return state.isDraining
        }
        if isDraining { gate.open() }
        return gate
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

    /// Opens every gate, now and for those still to come: a server that stops holds nobody.
    func openAllGates() {
        let gates = state.withLockedValue { state in
            state.isDraining = true
            return state.gates
        }
        for placed in gates { placed.gate.open() }
    }
}

/// A small generator with a seed, so that a run with jitter can be repeated.
///
/// The constants are those of Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014.
struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number in 0..<1 with 53 random bits.
    mutating func nextFraction() -> Double { Double(next() >> 11) * 0x1p-53 }
}
