#if os(Linux)
import AuthInterface
import DevBackend
import Foundation
import ProgramTesting
import Testing
import TokenRefresh

extension Scenarios {
    /// S22: a process is stopped (SIGSTOP) for longer than every limit, and then continues. The clock of all processes
    /// is advanced meanwhile, so that no test waits for the limits.
    @Suite struct StoppedProcessScenarios {
        /// How a stopped process has lost its lease.
        enum Loss: String, CaseIterable {
            /// As a claim lapses.
            case removed
            /// The system was about to suspend it.
            case givenUp
        }

        private static let once = ServerStatistics.Refreshes(received: 1, committed: 1)

        @Test func `S22: the holder of the lease is stopped: others are unavailable, then one refresh`() async throws {
            try await StoppedSandbox.run { sandbox in
                try await sandbox.backend.expireAccessTokens()
                let peer = try await sandbox.startPeer(untilStoppedAt: "lease")
                let requests = Task { await sandbox.send() }
                // The program has the limits of its own, in real time.
                async let status = sandbox.programs.run("status", "--json", "leaseHolder,refreshFailure")
                try await poll { sandbox.app.session.status.leaseHolder != nil }
                sandbox.clock.advance(bySeconds: StoppedSandbox.deadline)
                #expect(await requests.value == Array(repeating: .refreshUnavailable, count: 20))
                let holder = try #require(sandbox.app.session.status.leaseHolder)
                #expect(holder.process.process.hasPrefix("\(peer.identifier)-"))
                let shown = try await status
                #expect(shown.status == 0, "\(shown.errors)")
                #expect(shown.output.contains("\"process\":\"\(peer.identifier)-"), "\(shown.output)")
                #expect(sandbox.refreshes == .init())

                let outcome = await sandbox.resume(peer)
                #expect(outcome == "refreshed" || outcome == "adopted")
                #expect(await sandbox.send() == [])
                await sandbox.end(peer)
                #expect(sandbox.refreshes == Self.once)
                #expect(sandbox.app.events.endings == [])
            }
        }

        @Test(arguments: Loss.allCases, StoppedSandbox.Tolerance.allCases)
        func `S22: stopped before the first byte, without its lease: another process refreshes, and it does not`(
            loss: Loss, tolerance: StoppedSandbox.Tolerance
        ) async throws {
            try await StoppedSandbox.run(tolerance) { sandbox in
                try await sandbox.backend.expireAccessTokens()
                let point = loss == .removed ? "call" : "suspensionBeforeCall"
                let peer = try await sandbox.startPeer(untilStoppedAt: point)
                if loss == .removed { try sandbox.removeLease() }
                await sandbox.waitByRule4()
                #expect(await sandbox.send() == [])
                #expect(sandbox.refreshes == Self.once)

                #expect(await sandbox.resume(peer) == "adopted")
                await sandbox.end(peer)
                #expect(sandbox.refreshes == Self.once, "the process that was stopped has called")
                #expect(sandbox.app.events.endings == [])
            }
        }

        @Test(arguments: Loss.allCases, StoppedSandbox.Tolerance.allCases)
        func `S22: stopped before the response, without its lease: one replay, by rule 4`(
            loss: Loss, tolerance: StoppedSandbox.Tolerance
        ) async throws {
            try await StoppedSandbox.run(tolerance) { sandbox in
                let gate = sandbox.backend.hold("POST", "/auth/refresh", at: .beforeResponse)
                try await sandbox.backend.expireAccessTokens()
                let peer = try await sandbox.startPeer(stoppingAt: loss == .removed ? nil : "suspension")
                await gate.arrivals(1)
                peer.kill(loss == .removed ? SIGSTOP : SIGUSR1)
                try await peer.waitUntilStopped()
                if loss == .removed { try sandbox.removeLease() }
                await sandbox.waitByRule4()
                let requests = Task { await sandbox.send() }
                await gate.arrivals(2)
                gate.open()
                var counts = ServerStatistics.Refreshes(received: 2, committed: 1)
                if tolerance == .none {
                    // As S10: one replay, and one ending. The late response may be in use until its save is refused.
                    #expect(await requests.value == Array(repeating: .sessionEnded, count: 20))
                    #expect(await sandbox.resume(peer, until: ["signedOut"]) == "signedOut")
                    await sandbox.app.events.wait(for: \.isSignedOut)
                    #expect(sandbox.app.events.endings == [.expired()])
                    counts.reuseDetected = 1
                } else {
                    #expect(await requests.value == [])
                    #expect(["refreshed", "adopted"].contains(await sandbox.resume(peer)))
                    #expect(sandbox.app.events.endings == [])
                    if tolerance == .key { counts.replayedByKey = 1 } else { counts.replayedByGrace = 1 }
                }
                await sandbox.end(peer, hasEnded: tolerance == .none)
                #expect(sandbox.refreshes == counts)
            }
        }

        @Test func `S22: all processes are stopped: the response that has arrived meanwhile is used`() async throws {
            try await StoppedSandbox.run { sandbox in
                let gate = sandbox.backend.hold("POST", "/auth/refresh", at: .beforeResponse)
                try await sandbox.backend.expireAccessTokens()
                let first = try await sandbox.startPeer()
                await gate.arrivals(1)
                let second = try await sandbox.startPeer()
                await second.waitForLine("event refreshStarted")
                for peer in [first, second] {
                    peer.kill(SIGSTOP)
                    try await peer.waitUntilStopped()
                }
                gate.open()
                #expect(await sandbox.resume(first) == "refreshed")
                #expect(await sandbox.resume(second) == "adopted")
                for peer in [first, second] { await sandbox.end(peer) }
                #expect(sandbox.refreshes == Self.once)
                #expect(sandbox.app.events.endings == [])
            }
        }
    }
}
#endif
