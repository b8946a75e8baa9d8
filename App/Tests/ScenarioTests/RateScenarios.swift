import AuthInterface
import ConcurrencyPrimitives
import DataAPI
import DevBackend
import Foundation
import NetworkCore
import Testing
import TokenRefresh

extension Scenarios {
    /// S14: three processes share a store, each with an engine of its own, and requests come at a constant rate.
    ///
    /// These scenarios, and no others, take real time: 18 seconds over each transport.
    @Suite struct RateScenarios {
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
                let failures = await withTaskGroup(of: NetworkError?.self) { group in
                    for number in 0..<(40 * run.seconds) {
                        try? await clock.sleep(until: start + .milliseconds(25) * number)
                        let app = apps[number % apps.count]
                        group.addTask { await app.send(.article(1)) }
                    }
                    return await group.reduce(into: []) { if let failure = $1 { $0.append(failure) } }
                }
                // The measured time: a machine under load takes longer.
                let seconds = (clock.uptime - start) / .seconds(1)
                let usable = Double(run.lifetime) * 0.75
                let limit = Int((1.3 * seconds / usable).rounded(.down)) + 1
                let refreshes = apps[0].backend.statistics.refreshes
                #expect(failures.isEmpty, "\(failures)")
                #expect(refreshes.committed <= limit)
                #expect(refreshes.received == refreshes.committed)
                #expect(apps.flatMap(\.events.endings) == [])
            }
        }
    }
}
