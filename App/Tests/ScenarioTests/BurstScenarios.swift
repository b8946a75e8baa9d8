import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import DataAPI
import DevBackend
import Foundation
import Testing

extension Scenarios {
    /// S1 and S2: many requests, one expired token.
    @Suite struct BurstScenarios {
        static let jitter = FaultRule(nil, "/**", .jitter(upTo: .milliseconds(200)))

        /// 1,000 requests, which cost one refresh.
        private func burst(_ app: TestApp, _ faults: FaultPlan = FaultPlan([Self.jitter])) async {
            app.backend.faults = faults
            await app.sendAll(1_000).expectSuccess()
            #expect(app.backend.statistics.refreshes == .init(received: 1, committed: 1))
        }

        @Test(arguments: [FaultPlan.none, FaultPlan([jitter]), FaultPlan([jitter], strictRotation: true)])
        func `S1: 1,000 requests with an expired token: one refresh, no failure`(faults: FaultPlan) async throws {
            try await TestApp.run { app in
                try await app.backend.expireAccessTokens()
                await burst(app, faults)
                #expect(app.refusals > 0)
            }
        }

        @Test func `S1: a token known to be expired is refreshed first, and no request is refused`() async throws {
            let clock = ManualTimeSource(date: Date(timeIntervalSince1970: 1_900_000_000))
            try await TestApp.run({ $0.clock = clock }) { app in
                clock.advance(by: app.backend.configuration.accessTokenLifetime)
                await burst(app)
                #expect(app.refusals == 0)
            }
        }

        @Test(arguments: [30.0, -30.0])
        func `S1: every new token looks expired to the client's clock, or valid for years`(days: Double) async throws {
            try await TestApp.run({ $0.clock = WrongClock(offset: days * 86_400) }) { app in
                try await app.backend.expireAccessTokens()
                await burst(app)
            }
        }

        @Test func `S2: 20 refusals that arrive after the refresh is done cause no further refresh`() async throws {
            try await TestApp.run { app in
                let gate = app.backend.hold("GET", "/articles/*")
                async let late = app.sendAll(20)
                await gate.arrivals(20)
                try await app.backend.expireAccessTokens()
                #expect(await app.send(.me) == nil)
                #expect(app.backend.statistics.refreshes.received == 1)
                for arrived in 21...40 {
                    gate.release(1)
                    await gate.arrivals(arrived)
                }
                gate.open()
                await late.expectSuccess()
                #expect(app.refusals == 20)
                #expect(app.backend.statistics.refreshes.received == 1)
            }
        }
    }
}

/// A device whose date is wrong by a constant offset.
private struct WrongClock: TimeSource {
    let offset: TimeInterval
    private let system = SystemTimeSource()

    var uptime: Duration { system.uptime }
    var date: Date { system.date + offset }
    func sleep(until deadline: Duration) async throws { try await system.sleep(until: deadline) }
}
