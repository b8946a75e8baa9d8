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
    /// A rate is requests a time, so these scenarios, and no others, take real time: 18 seconds in all.
    @Suite struct RateScenarios {
        static let runs: [(lifetime: Int, seconds: Int, isStrict: Bool)] = [(2, 6, false), (2, 5, true), (4, 7, false)]

        @Test("S14: 40 requests a second: one refresh a usable lifetime, and no failed request", arguments: runs)
        func rate(run: (lifetime: Int, seconds: Int, isStrict: Bool)) async throws {
            try await Stage.play(
                processes: 3,
                {
                    $0.server.accessTokenLifetime = .seconds(run.lifetime)
                    $0.server.faults = FaultPlan(strictRotation: run.isStrict)
                }
            ) { stages in
                let clock = SystemTimeSource()
                let start = clock.uptime
                let failures = await withTaskGroup(of: NetworkError?.self) { group in
                    for number in 0..<(40 * run.seconds) {
                        try? await clock.sleep(until: start + .milliseconds(25) * number)
                        let stage = stages[number % stages.count]
                        group.addTask { await stage.send(.article(1)) }
                    }
                    return await group.reduce(into: []) { if let failure = $1 { $0.append(failure) } }
                }
                // What the machine's load adds to the time counts.
                let seconds = (clock.uptime - start) / .seconds(1)
                let usable = Double(run.lifetime) * 0.75
                let limit = Int((1.3 * seconds / usable).rounded(.down)) + 1
                let refreshes = stages[0].backend.statistics.refreshes
                let name = "S14 lifetime \(run.lifetime) s\(run.isStrict ? ", strict" : ""), \(seconds.rounded()) s"
                stages[0].report("\(name), at most \(limit) refreshes", failures: failures.count)
                #expect(failures.isEmpty, "\(failures)")
                #expect(refreshes.committed <= limit)
                #expect(refreshes.received == refreshes.committed)
                #expect(stages.flatMap(\.events.endings) == [])
            }
        }
    }
}
