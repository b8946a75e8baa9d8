import AuthInterface
import AuthTesting
import DataAPI
import DevBackend
import Foundation
import NetworkCore
import Testing
import TokenRefresh

extension Scenarios {
    /// S8: servers that refuse every token, and endpoints that do.
    @Suite struct RefusalScenarios {
        @Test(
            "S8: every response is 401: one refresh, then unauthorized, and no other request fails", arguments: [1, 20])
        func everythingRefused(count: Int) async throws {
            try await Stage.play({ $0.clock = ManualTimeSource() }) { stage in
                stage.backend.faults = .refusingAccessTokens(at: "/articles/*")
                let failures = await stage.sendAll(count).compactMap(\.self)
                stage.report("S8 \(count) requests", failures: failures.count)
                #expect(failures.count == count)
                #expect(failures.allSatisfy { $0.authentication?.code == .unauthorized })
                #expect(stage.backend.statistics.refreshes.received == 1)
                #expect(stage.refusals <= 2 * count)
                #expect(stage.events.endings == [])
                // Other endpoints go on with the token that was refused there.
                #expect(await stage.send(.me) == nil)
                // A second request to a refusing endpoint causes no refresh.
                #expect(await stage.send(.article(1))?.authentication?.code == .unauthorized)
                #expect(stage.backend.statistics.refreshes.received == 1)
            }
        }

        @Test(
            "S8: one endpoint always refuses, in one process and in two: it costs its own callers and no other request",
            arguments: [1, 2])
        func oneEndpointRefuses(processes: Int) async throws {
            let clock = ManualTimeSource()
            try await Stage.play(processes: processes, { $0.clock = clock }) { stages in
                let backend = stages[0].backend
                backend.faults = .refusingAccessTokens(at: "/articles/1")
                for stage in stages {
                    let failures = await stage.sendAll(20) { _ in .article(1) }
                    #expect(failures.allSatisfy { $0?.authentication?.code == .unauthorized })
                    #expect(await stage.sendAll(20) { _ in .me }.allSatisfy { $0 == nil })
                }
                let first = backend.statistics.refreshes.received
                #expect(first == 1)
                // The endpoint is asked again and again: each time its own caller pays.
                for stage in stages {
                    #expect(await stage.send(.article(1))?.authentication?.code == .unauthorized)
                    #expect(await stage.send(.me) == nil)
                }
                #expect(backend.statistics.refreshes.received == first)

                // EN4: now the tokens are really dead, while the cool-down of that endpoint runs.
                try await backend.expireAccessTokens()
                for stage in stages {
                    let failures = await stage.sendAll(20) { _ in .me }.compactMap(\.self)
                    #expect(failures.isEmpty, "\(failures)")
                }
                #expect(backend.statistics.refreshes.received == first + 1)
                for stage in stages { stage.report("S8 one endpoint, \(processes) processes", failures: 0) }
                #expect(stages.flatMap(\.events.endings) == [])
            }
        }

        @Test("S8: a token that was just refreshed and replaced by the other process is looked up in the store")
        func replacedByTheOther() async throws {
            try await Stage.play(
                processes: 2,
                {
                    $0.clock = ManualTimeSource()
                    $0.server.faults = FaultPlan(strictRotation: true)
                }
            ) { stages in
                let (first, second) = (stages[0], stages[1])
                try await first.session.refresh()
                // The other process refreshes at once; the server then refuses the token of the first.
                try await second.session.refresh()
                try await second.session.refresh()
                let refreshes = first.backend.statistics.refreshes.received
                let failures = await first.sendAll(20) { _ in .me }.compactMap(\.self)
                #expect(failures.isEmpty, "\(failures)")
                #expect(first.backend.statistics.refreshes.received == refreshes)
                first.report("S8 replaced by the other", failures: failures.count)
            }
        }

        @Test(
            "S11, strict: the replacement is dead too, because the other process has refreshed since: the call goes on")
        func twoRefusalsInOneCall() async throws {
            try await Stage.play(
                processes: 2,
                {
                    $0.clock = ManualTimeSource()
                    $0.server.faults = FaultPlan(strictRotation: true)
                }
            ) { stages in
                let (first, second) = (stages[0], stages[1])
                let gate = first.backend.hold("GET", "/articles/1")
                async let call = first.send(.article(1))
                await gate.arrivals(1)
                try await first.backend.expireAccessTokens()
                gate.release()
                // The call has its replacement and is at the server's door again.
                await gate.arrivals(2)
                try await second.session.refresh()
                try await second.session.refresh()
                gate.open()
                let failure = await call
                first.report("S11 strict, two refusals", failures: failure == nil ? 0 : 1)
                #expect(failure == nil, "\(String(describing: failure))")
                #expect(stages.flatMap(\.events.endings) == [])
            }
        }
    }
}
