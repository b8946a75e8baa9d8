import AuthInterface
import ConcurrencyPrimitives
import Foundation
import Testing

@testable import TokenRefresh

/// A follower's machine, two clocks, and methods that send events; each returns the machine's decisions as text.
struct FollowerScript {
    var machine: FollowerMachine
    var uptime: Duration = .seconds(1_000)
    var date = MachineScript.start
    private(set) var timers: [FollowerTimer: Duration] = [:]
    private(set) var errors: [AuthenticationError] = []

    init(hasSource: Bool = true) { machine = FollowerMachine(policy: FollowerPolicy(), hasSource: hasSource) }

    /// A machine that follows ada's first token, which is valid for an hour.
    static func following(hasSource: Bool = true) -> FollowerScript {
        var script = FollowerScript(hasSource: hasSource)
        _ = script.give(script.bundle("ada", 0))
        return script
    }

    /// A bundle received just now. `begun`: in seconds after the script. Without an ordinal it is an earlier version's.
    func bundle(
        _ user: String, _ generation: Int, begun: TimeInterval? = 0, ordinal: Int64? = nil,
        lifetime: TimeInterval = 3_600
    ) -> TokenBundle {
        .stored(
            user, generation, expiresAt: date + lifetime, receivedAt: date,
            signedInAt: begun.map { MachineScript.start + $0 },
            ordinal: ordinal.flatMap { SessionOrdinal(rawValue: $0) })
    }

    /// The end of a session. Without an ordinal it is one of an earlier version.
    func ended(
        _ user: String, _ reason: SignOutReason = .byUser, at seconds: TimeInterval? = nil, upTo ordinal: Int64 = 0
    ) -> StoredSession {
        let end = seconds.map { MachineScript.start + $0 } ?? date
        return .tombstone(
            SessionTombstone(
                session: SessionID(rawValue: user), reason: reason, date: end,
                upTo: SessionOrdinal(rawValue: ordinal) ?? .unknown))
    }

    /// Ada's first token, which expired half an hour ago by this clock.
    func expired(clockSkew: TimeInterval) -> TokenBundle {
        .stored("ada", 0, expiresAt: date - 1_800, clockSkew: clockSkew, receivedAt: date - 5_400)
    }

    func token(_ user: String, _ generation: Int) -> SessionToken {
        SessionToken(value: "access-\(user)-\(generation)", session: SessionID(rawValue: user), generation: generation)
    }

    var state: String { machine.published.text }

    mutating func send(_ event: FollowerEvent) -> [String] {
        machine.handle(event, at: Instant(uptime: uptime, date: date)).compactMap { action in
            switch action {
            case .read: return "read"
            case .bundleNeeded: return "ask"
            case .publish(let state): return state.text
            case .respond(let id, let response):
                if case .failed(let error) = response { errors.append(error) }
                return "\(id.number): \(response.text)"
            case .startTimer(let timer, let deadline):
                timers[timer] = deadline
                return nil
            case .stopTimer(let timer):
                timers[timer] = nil
                return nil
            }
        }
    }

    /// A caller asks, after some time: what timers do until then is left out.
    mutating func ask(_ id: Int, after time: Duration? = nil) -> [String] {
        if let time { _ = pass(time) }
        return send(.requested(.token, WaiterID(number: id)))
    }

    mutating func restore(_ id: Int) -> [String] { send(.requested(.restore, WaiterID(number: id))) }

    mutating func refused(_ id: Int, _ token: SessionToken) -> [String] {
        send(.requested(.replacement(TokenRefusal(of: token)), WaiterID(number: id)))
    }

    mutating func give(_ bundle: TokenBundle) -> [String] { send(.given(.active(bundle))) }
    mutating func give(_ content: StoredSession) -> [String] { send(.given(content)) }

    mutating func read(_ content: StoredSession) -> [String] { send(.read(.success(content))) }
    mutating func readFails() -> [String] { send(.read(.failure(.locked))) }

    mutating func pass(_ duration: Duration) -> [String] {
        uptime += duration
        date += duration / .seconds(1)
        var texts: [String] = []
        for (timer, deadline) in timers.sorted(by: { $0.value < $1.value }) where deadline <= uptime {
            timers[timer] = nil
            texts += send(.timerFired(timer))
        }
        return texts
    }

    /// Nothing happens for some time, and then, within some more, what is returned.
    mutating func pass(_ quiet: Duration, then rest: Duration) -> [String] {
        #expect(pass(quiet) == [])
        return pass(rest)
    }
}
