import AuthInterface
import AuthTesting
import DataAPI
import DevBackend
import Foundation
import Testing

extension Scenarios {
    /// S1 and S2: many requests, one expired token.
    @Suite struct BurstScenarios {
        static let jitter = FaultRule(nil, "/**", .jitter(upTo: .milliseconds(200)))

        static let weathers: [(name: String, faults: FaultPlan)] = [
            ("S1 burst", .none),
            ("S1 burst with jitter", FaultPlan([jitter])),
            ("S1 burst with jitter, strict", FaultPlan([jitter], strictRotation: true)),
        ]

        @Test("S1: 1,000 requests meet an expired token: one refresh, no failure", arguments: weathers)
        func burst(weather: (name: String, faults: FaultPlan)) async throws {
            try await Stage.play { stage in
                stage.backend.faults = weather.faults
                try await stage.backend.expireAccessTokens()
                let failures = await stage.sendAll(1_000).compactMap(\.self)
                stage.report(weather.name, failures: failures.count)
                #expect(failures.count == 0, "\(failures.first.map(String.init(describing:)) ?? "")")
                #expect(stage.refusals > 0)
                #expect(stage.backend.statistics.refreshes == .init(received: 1, committed: 1))
            }
        }

        @Test("S1: a token known to be expired is refreshed first, and no request is refused at all")
        func proactive() async throws {
            let clock = ManualTimeSource(date: Date(timeIntervalSince1970: 1_900_000_000))
            try await Stage.play({
                $0.server.now = { clock.date }
                $0.clock = clock
            }) { stage in
                stage.backend.faults = FaultPlan([Self.jitter])
                clock.advance(by: stage.backend.configuration.accessTokenLifetime)
                let failures = await stage.sendAll(1_000).compactMap(\.self)
                stage.report("S1 proactive", failures: failures.count)
                #expect(failures.count == 0)
                #expect(stage.refusals == 0)
                #expect(stage.backend.statistics.refreshes == .init(received: 1, committed: 1))
            }
        }

        @Test("S1: every new token looks expired to the client's clock, or valid for years", arguments: [30.0, -30.0])
        func wrongClock(days: Double) async throws {
            try await Stage.play({ $0.clock = SetClock(offset: days * 86_400) }) { stage in
                stage.backend.faults = FaultPlan([Self.jitter])
                try await stage.backend.expireAccessTokens()
                let failures = await stage.sendAll(1_000).compactMap(\.self)
                stage.report("S1 clock off by \(Int(days)) days", failures: failures.count)
                #expect(failures.count == 0)
                #expect(stage.backend.statistics.refreshes == .init(received: 1, committed: 1))
            }
        }

        @Test("S2: 20 refusals that arrive one by one after the refresh is done cause no further refresh")
        func lateRefusals() async throws {
            try await Stage.play { stage in
                let gate = stage.backend.hold("GET", "/articles/*")
                async let late = stage.sendAll(20)
                await gate.arrivals(20)
                try await stage.backend.expireAccessTokens()
                #expect(await stage.send(.me) == nil)
                #expect(stage.backend.statistics.refreshes.received == 1)
                for arrived in 21...40 {
                    gate.release(1)
                    await gate.arrivals(arrived)
                }
                gate.open()
                let failures = await late.compactMap(\.self)
                stage.report("S2", failures: failures.count)
                #expect(failures.count == 0)
                #expect(stage.refusals == 20)
                #expect(stage.backend.statistics.refreshes.received == 1)
            }
        }
    }
}
