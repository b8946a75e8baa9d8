import AuthInterface
import AuthTesting
import DataAPI
import DevBackend
import Foundation
import NetworkCore
import Testing
import TokenRefresh

extension Scenarios {
    /// S13 and S15: responses that take longer than a request waits, and longer than other processes like.
    ///
    /// The engines' clocks are moved by hand to the full times, so nothing here takes them.
    @Suite struct SlowResponseScenarios {
        @Test(
            "S13: the server rotates at once and responds after 35 s: waiters fail at 30 s, the late response is kept")
        func oneProcess() async throws {
            let clock = ManualTimeSource()
            try await Stage.play({
                $0.policy = .impatient
                $0.clock = clock
            }) { stage in
                let gate = stage.backend.hold("POST", "/auth/refresh", at: .beforeResponse)
                try await stage.backend.expireAccessTokens()
                async let requests = stage.sendAll(1_000)
                await gate.arrivals(1)
                clock.advance(by: stage.setup.policy.deadline)
                let failures = await requests.compactMap(\.self)
                #expect(failures.count == 1_000)
                #expect(failures.allSatisfy { $0.authentication?.code == .refreshUnavailable })
                // EN1: the call is still under way, so there is no second one, at 31 s and later.
                for _ in 0..<4 {
                    clock.advance(by: .seconds(1))
                    #expect(await stage.send(.me)?.authentication?.code == .refreshUnavailable)
                }
                #expect(stage.backend.statistics.refreshes == .init(received: 1, committed: 1))
                clock.advance(by: .seconds(1))
                gate.open()
                await stage.events.wait { $0.isRefreshed }
                #expect(stage.events.count(\.isLateResponseKept) == 1)
                #expect(await stage.sendAll(1_000).allSatisfy { $0 == nil })
                stage.report("S13 one process", failures: failures.count + 4)
                #expect(stage.backend.statistics.refreshes == .init(received: 1, committed: 1))
                #expect(stage.events.endings == [])
            }
        }

        @Test(
            "S13: with two processes the other one waits for the lease, fails at 30 s, and then adopts the late response"
        )
        func twoProcesses() async throws {
            let clock = ManualTimeSource()
            try await Stage.play(
                processes: 2,
                {
                    $0.policy = .impatient
                    $0.clock = clock
                }
            ) { stages in
                let (first, second) = (stages[0], stages[1])
                let (gate, requests) = try await first.refuseAll(100, at: .beforeResponse)
                async let others = second.sendAll(100)
                await second.events.wait { $0.isRefreshStarted }
                clock.advance(by: first.setup.policy.deadline)
                let failures = await requests.value.compactMap(\.self) + others.compactMap(\.self)
                #expect(failures.count == 200)
                #expect(failures.allSatisfy { $0.authentication?.code == .refreshUnavailable }, "\(failures.last!)")
                // The pause of the second one still runs, so it does not wait for the lease again.
                #expect(await second.send(.me)?.authentication?.code == .refreshUnavailable)
                clock.advance(by: .seconds(1))
                #expect(await first.send(.me)?.authentication?.code == .refreshUnavailable)
                #expect(first.backend.statistics.refreshes == .init(received: 1, committed: 1))
                gate.open()
                await first.events.wait { $0.isRefreshed }
                clock.advance(by: .seconds(2))
                for stage in stages {
                    let failures = await stage.sendAll(100).compactMap(\.self)
                    #expect(failures.isEmpty, "\(failures)")
                }
                first.report("S13 two processes", failures: failures.count + 2)
                #expect(first.backend.statistics.refreshes == .init(received: 1, committed: 1))
                #expect(stages.flatMap(\.events.endings) == [])
            }
        }

        @Test("S15: a refresh of 12 s, with a second process waiting for the lease: the requests of both succeed")
        func longRefresh() async throws {
            let clock = ManualTimeSource()
            try await Stage.play(processes: 2, { $0.clock = clock }) { stages in
                let (first, second) = (stages[0], stages[1])
                let (gate, requests) = try await first.refuseAll(100, at: .beforeResponse)
                async let others = second.sendAll(100)
                await second.events.wait { $0.isRefreshStarted }
                clock.advance(by: .seconds(12))
                gate.open()
                let failures = await requests.value.compactMap(\.self) + others.compactMap(\.self)
                first.report("S15", failures: failures.count)
                #expect(failures.isEmpty, "\(failures)")
                #expect(first.backend.statistics.refreshes == .init(received: 1, committed: 1))
                #expect(second.events.count(\.isAdopted) == 1)
            }
        }
    }
}
