import DevBackend
import Foundation
import Testing

/// S11 and S12: several processes over one stored session, and processes that are killed. Each is the real program.
@Suite(.serialized) struct ProcessScenarios {
    @Test("S11: two processes over one stored session, at once: one refresh, and all requests succeed")
    func atOnce() async throws {
        try await Desk.play("S11 at once") { desk in
            let answers = desk.backend.hold("GET", "/articles", at: .beforeAnswer)
            let refreshes = desk.backend.hold("POST", "/auth/refresh")
            try await desk.backend.expireAccessTokens()
            async let first = desk.run("list")
            async let second = desk.run("list")
            // Both have been refused before the refresh goes on: both need it.
            await answers.arrivals(2)
            answers.open()
            await refreshes.arrivals(1)
            refreshes.open()
            let endings = try await [first, second]
            #expect(endings.map(\.status) == [0, 0], "\(endings.map(\.errors))")
            #expect(desk.backend.statistics.refreshes == .init(received: 1, committed: 1))
        }
    }

    @Test("S11: two processes over one stored session, one after the other: one refresh")
    func oneAfterTheOther() async throws {
        try await Desk.play("S11 one after the other") { desk in
            try await desk.backend.expireAccessTokens()
            let endings = try await [desk.run("list"), desk.run("list")]
            #expect(endings.map(\.status) == [0, 0], "\(endings.map(\.errors))")
            #expect(desk.backend.statistics.refreshes == .init(received: 1, committed: 1))
        }
    }

    @Test("S12: killed between the server's rotation and the save: with a grace window the session recovers")
    func killedWithGrace() async throws {
        try await Desk.play("S12 with grace", { $0.rotationGrace = .seconds(60) }) { desk in
            try await desk.killBeforeTheSave()
            #expect(try await desk.run("list").status == 0)
            #expect(desk.backend.statistics.refreshes == .init(received: 2, committed: 1, replayedByGrace: 1))
        }
    }

    @Test("S12: without a grace window there is one replay and one ending, and the user is asked to sign in")
    func killedWithoutGrace() async throws {
        try await Desk.play("S12 without grace") { desk in
            try await desk.killBeforeTheSave()
            let ending = try await desk.run("list")
            #expect(ending.status != 0)
            #expect(ending.errors.contains("sign in"), "\(ending.errors)")
            #expect(try await desk.run("list").status != 0)
            #expect(desk.backend.statistics.refreshes == .init(received: 2, committed: 1, reuseDetected: 1))
        }
    }

    @Test("S12: killed as the save goes on, again and again: the store holds a whole bundle each time")
    func killedDuringTheSave() async throws {
        try await Desk.play("S12 during the save", { $0.rotationGrace = .seconds(600) }) { desk in
            for round in 1...10 {
                let gate = desk.backend.hold("POST", "/auth/refresh", at: .beforeAnswer)
                try await desk.backend.expireAccessTokens()
                let process = try desk.start("list")
                await gate.arrivals(1)
                gate.open()
                // From here on the answer is on its way; the kill meets the process wherever it is by then.
                for _ in 0..<round { _ = try await desk.run("--version") }
                process.kill()
                _ = await process.ending
                let next = try await desk.run("list")
                #expect(next.status == 0, "round \(round): \(next.errors)")
            }
            #expect(desk.backend.statistics.refreshes.reuseDetected == 0)
        }
    }
}
