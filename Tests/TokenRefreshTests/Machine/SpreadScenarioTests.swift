import AuthInterface
import ConcurrencyPrimitives
import Foundation
import Testing

@testable import TokenRefresh

/// S26, on the machine itself for two hours of each session, and then on what it has shown: when each refresh starts.
@Suite struct SpreadScenarioTests {
    private static let lifetime = Duration.seconds(600)

    /// A session that is signed in at a millisecond of the first second, and has a request a second.
    private struct Session {
        let signIn: Duration
        let id: SessionID

        init(_ number: Int) {
            (signIn, id) = (.milliseconds(number), SessionID(rawValue: "session-\(number)"))
        }

        /// The first request at an instant or later.
        func request(from instant: Duration) -> Duration {
            signIn + .seconds(Int(((instant - signIn) / .seconds(1)).rounded(.up)))
        }

        /// The requests that start a refresh. Each token counts from the one before.
        func refreshes(until end: Duration) -> [Duration] {
            var requests: [Duration] = []
            var sent = signIn
            while true {
                let bundle = TokenBundle(
                    accessToken: "a", refreshToken: "r", session: id, generation: requests.count)
                let expiry = Expiry(received: bundle, lifetime: lifetime, at: sent, policy: TokenRefreshPolicy())
                sent = request(from: expiry.aheadFrom ?? end)
                guard sent < end else { return requests }
                requests.append(sent)
            }
        }

        /// The same, as the machine does it.
        func refreshesOfMachine(until end: Duration) -> [Duration] {
            let settings = MachineSettings(
                policy: TokenRefreshPolicy(), isShared: false, owner: ProcessIdentity(host: "host", process: "p"),
                tolerance: .none)
            var machine = RefreshStateMachine(settings: settings, random: .seeded(SplitMix64(seed: 1)))
            let caller = WaiterID(number: 1)
            func send(_ event: RefreshEvent, at uptime: Duration) -> [RefreshAction] {
                let date = Date(timeIntervalSince1970: 1_800_000_000 + uptime / .seconds(1))
                let actions = machine.handle(event, at: Instant(uptime: uptime, date: date))
                return actions.reduce(into: actions) { all, action in
                    guard case .write(let version, _) = action else { return }
                    all += send(.wrote(version: version, .written(replaced: nil)), at: uptime)
                }
            }
            var tokens = TokenRefreshResult(accessToken: "a", refreshToken: "r", expiresIn: lifetime)
            _ = send(.signIn(tokens, id, caller), at: signIn)
            var requests: [Duration] = []
            while let start = machine.current?.expiry.aheadFrom, case let instant = request(from: start), instant < end
            {
                // The request before it found a token that is ready.
                guard machine.readyToken(at: instant - .seconds(1)) != nil,
                    case .call(let id, let base, _, _)? = send(.requested(.token, caller), at: instant).last(
                        where: { if case .call = $0 { true } else { false } })
                else { return requests }
                requests.append(instant)
                (tokens.accessToken, tokens.refreshToken) = ("a\(requests.count)", "r\(requests.count)")
                _ = send(.responded(id, base: base, .success(tokens)), at: instant + .milliseconds(150))
            }
            return requests
        }
    }

    @Test func `S26: 1,000 sessions that were signed in within one second: no second has more than 50 refreshes`() {
        let (hours, day) = (Duration.seconds(7_200), Duration.seconds(86_400))
        var counts: [Int: Int] = [:]
        for number in 0..<1_000 {
            let session = Session(number)
            let requests = session.refreshes(until: day)
            #expect(requests.prefix { $0 < hours } == session.refreshesOfMachine(until: hours)[...])
            // At most one refresh in each usable lifetime, which is 540 s (G3, S14).
            #expect((144...160).contains(requests.count), "session \(number): \(requests.count)")
            for request in requests { counts[Int(request / .seconds(1)), default: 0] += 1 }
        }
        #expect(counts.values.max() ?? 0 <= 50)
    }
}
