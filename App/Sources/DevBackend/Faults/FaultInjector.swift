import Foundation
import NIOConcurrencyHelpers

/// Decides what goes wrong with a request, by the current plan and its gates.
final class FaultInjector: Sendable {
    /// The faults of one request.
    struct Decision: Sendable, Hashable {
        var delay = Duration.zero
        /// How long the response waits after the handler has run.
        var responseDelay = Duration.zero
        /// The action that replaces the handler, if any.
        var interruption: FaultAction?
        var losesResponse = false
        /// The bytes of the response's body after which the connection is closed.
        var cut: Int?
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

    /// The current plan, with its current counts. Setting it restarts its seed.
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

    /// Opens every gate, and every gate that is created later: a server that stops holds no request.
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

/// The response of a gateway or proxy in front of the server, without envelope and request identifier.
public struct GatewayResponse: Sendable, Hashable, Codable {
    /// The status.
    public var status: Int
    /// The value of `Content-Type`; nil leaves the field out.
    public var contentType: String?
    /// The body; may be empty.
    public var body: String

    /// Creates a response.
    ///
    /// - Parameters:
    ///   - status: The status, 200 or more.
    ///   - contentType: The value of `Content-Type`; nil leaves the field out.
    ///   - body: The body.
    public init(status: Int, contentType: String? = nil, body: String = "") {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    /// 403 with `{"message":"Forbidden"}`.
    public static let forbidden = GatewayResponse(
        status: 403, contentType: "application/json", body: #"{"message":"Forbidden"}"#)

    /// 403 without a body.
    public static let emptyForbidden = GatewayResponse(status: 403)

    /// 200 with a page, as a captive portal sends it.
    public static let page = GatewayResponse(
        status: 200, contentType: "text/html", body: "<html><body>Sign in to this network.</body></html>")

    /// 401 with a page.
    public static let unauthorizedPage = GatewayResponse(
        status: 401, contentType: "text/html", body: "<html><body>Unauthorized</body></html>")

    /// 502 with a page.
    public static let badGateway = GatewayResponse(
        status: 502, contentType: "text/html", body: "<html><body>Bad Gateway</body></html>")

    /// 401 without a body.
    public static let emptyUnauthorized = GatewayResponse(status: 401)

    /// 401 with `{"message":"Unauthorized"}`, which is not the envelope.
    public static let unauthorized = GatewayResponse(
        status: 401, contentType: "application/json", body: #"{"message":"Unauthorized"}"#)
}
