import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import DataAPI
import DevBackend
import Foundation
import NetworkCore
import Testing
import TokenRefresh

extension Scenarios {
    /// S13 and S15: refresh responses that come after the deadline, or late with a second process waiting. They advance
    /// the engines' clocks, and do not take the times in their names. S14: three processes share a store, each with an
    /// engine of its own, and requests come at a constant rate. It alone takes real time: 18 seconds a transport.
    @Suite struct SlowResponseScenarios {
        @Test func `S13: a response after the deadline is kept, and no second call is made`() async throws {
            let clock = ManualTimeSource()
            try await TestApp.run({ $0.failFast(with: clock) }) { app in
                let gate = app.backend.hold("POST", "/auth/refresh", at: .beforeResponse)
                try await app.backend.expireAccessTokens()
                async let requests = app.sendAll(300)
                await gate.arrivals(1)
                clock.advance(by: app.setup.policy.deadline)
                await requests.expectAll(failWith: .refreshUnavailable)
                // The call is still under way, so there is no second one, at 31 s and later.
                for _ in 0..<4 {
                    clock.advance(by: .seconds(1))
                    #expect(await app.send(.me)?.authentication?.code == .refreshUnavailable)
                }
                #expect(app.backend.statistics.refreshes == .init(received: 1, committed: 1))
                clock.advance(by: .seconds(1))
                gate.open()
                await app.events.wait { $0.isRefreshed }
                // Events have no guaranteed order, and requests may end before the observer is notified.
                await app.events.wait(for: \.isLateResponseKept)
                await app.sendAll(300).expectSuccess()
                #expect(app.backend.statistics.refreshes == .init(received: 1, committed: 1))
                #expect(app.events.endings == [])
            }
        }

        @Test func `S13: a second process fails at the deadline and adopts the late response`() async throws {
            let clock = ManualTimeSource()
            try await TestApp.run(processes: 2, { $0.failFast(with: clock) }) { apps in
                let (first, second) = (apps[0], apps[1])
                let (gate, requests) = try await first.refuseAll(100, at: .beforeResponse)
                async let others = second.sendAll(100)
                await second.events.wait { $0.isRefreshStarted }
                clock.advance(by: first.setup.policy.deadline)
                for failures in [await requests.value, await others] {
                    failures.expectAll(failWith: .refreshUnavailable)
                }
                // The second process is still in its pause, so it does not wait for the lease again.
                #expect(await second.send(.me)?.authentication?.code == .refreshUnavailable)
                clock.advance(by: .seconds(1))
                #expect(await first.send(.me)?.authentication?.code == .refreshUnavailable)
                #expect(first.backend.statistics.refreshes == .init(received: 1, committed: 1))
                gate.open()
                await first.events.wait { $0.isRefreshed }
                clock.advance(by: .seconds(2))
                for app in apps { await app.sendAll(100).expectSuccess() }
                #expect(first.backend.statistics.refreshes == .init(received: 1, committed: 1))
                #expect(apps.flatMap(\.events.endings) == [])
            }
        }

        @Test func `S15: while a refresh takes 12 s, a second process waits, and all requests succeed`() async throws {
            let clock = ManualTimeSource()
            try await TestApp.run(processes: 2, { $0.clock = clock }) { apps in
                let (first, second) = (apps[0], apps[1])
                let (gate, requests) = try await first.refuseAll(100, at: .beforeResponse)
                async let others = second.sendAll(100)
                await second.events.wait { $0.isRefreshStarted }
                clock.advance(by: .seconds(12))
                gate.open()
                for results in [await requests.value, await others] { results.expectSuccess() }
                #expect(first.backend.statistics.refreshes == .init(received: 1, committed: 1))
                await second.events.wait(for: \.isAdopted)
                #expect(second.events.count(\.isAdopted) == 1)
            }
        }

        static let runs: [(lifetime: Int, seconds: Int, isStrict: Bool)] = [(2, 6, false), (2, 5, true), (4, 7, false)]

        @Test(arguments: runs)
        func `S14: 40 requests a second: one refresh a usable lifetime, and no failed request`(
            run: (lifetime: Int, seconds: Int, isStrict: Bool)
        ) async throws {
            try await TestApp.run(
                processes: 3,
                {
                    $0.server.accessTokenLifetime = .seconds(run.lifetime)
                    $0.server.faults = FaultPlan(strictRotation: run.isStrict)
                }
            ) { apps in
                let clock = SystemTimeSource()
                let start = clock.uptime
                let results = await withTaskGroup(of: NetworkError?.self) { group in
                    for number in 0..<(40 * run.seconds) {
                        try? await clock.sleep(until: start + .milliseconds(25) * number)
                        let app = apps[number % apps.count]
                        group.addTask { await app.send(.article(1)) }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                let seconds = (clock.uptime - start) / .seconds(1)
                let limit = Int((1.3 * seconds / (0.75 * Double(run.lifetime))).rounded(.down)) + 1
                // The last request may have started one in the background.
                for app in apps { await app.session.settle() }
                let refreshes = apps[0].backend.statistics.refreshes
                results.expectSuccess()
                #expect(refreshes.committed <= limit)
                #expect(refreshes.received == refreshes.committed)
                #expect(apps.flatMap(\.events.endings) == [])
            }
        }
    }
}
