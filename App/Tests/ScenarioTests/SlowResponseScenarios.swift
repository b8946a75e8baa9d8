import AuthInterface
import ContractTesting
import DataAPI
import DevBackend
import Foundation
import NetworkCore
import Testing
import TokenRefresh

extension Scenarios {
    /// S13 and S15: refresh responses that come after the deadline, or late with a second process waiting.
    ///
    /// The tests advance the engines' clocks, so they do not take the times in their names.
    @Suite struct SlowResponseScenarios {
        @Test func `S13: a response after the deadline is kept, and no second call is made`() async throws {
            let clock = ManualTimeSource()
            try await TestApp.run({ $0.failFast(with: clock) }) { app in
                let gate = app.backend.hold("POST", "/auth/refresh", at: .beforeResponse)
                try await app.backend.expireAccessTokens()
                async let requests = app.sendAll(300)
                await gate.arrivals(1)
                clock.advance(by: app.setup.policy.deadline)
                let failures = await requests.compactMap(\.self)
                #expect(failures.map(\.authentication?.code) == Array(repeating: .refreshUnavailable, count: 300))
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
                #expect(await app.sendAll(300).allSatisfy { $0 == nil })
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
                let failures = await requests.value.compactMap(\.self) + others.compactMap(\.self)
                #expect(failures.map(\.authentication?.code) == Array(repeating: .refreshUnavailable, count: 200))
                // The second process is still in its pause, so it does not wait for the lease again.
                #expect(await second.send(.me)?.authentication?.code == .refreshUnavailable)
                clock.advance(by: .seconds(1))
                #expect(await first.send(.me)?.authentication?.code == .refreshUnavailable)
                #expect(first.backend.statistics.refreshes == .init(received: 1, committed: 1))
                gate.open()
                await first.events.wait { $0.isRefreshed }
                clock.advance(by: .seconds(2))
                for app in apps {
                    let failures = await app.sendAll(100).compactMap(\.self)
                    #expect(failures.isEmpty, "\(failures)")
                }
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
                let failures = await requests.value.compactMap(\.self) + others.compactMap(\.self)
                #expect(failures.isEmpty, "\(failures)")
                #expect(first.backend.statistics.refreshes == .init(received: 1, committed: 1))
                await second.events.wait(for: \.isAdopted)
                #expect(second.events.count(\.isAdopted) == 1)
            }
        }
    }
}
