import AuthInterface
import DevBackend
import Foundation
import Storage
import Testing
import TokenRefresh

extension Scenarios {
    /// S11, S12, S18 and S19: several processes over one stored session, and processes that end. Each is the real program.
    @Suite struct ProcessScenarios {
        @Test(
            "S11: two processes over one stored session, at once: one refresh, and all requests succeed",
            arguments: [false, true])
        func atOnce(isStrict: Bool) async throws {
            let name = isStrict ? "S11 at once, strict" : "S11 at once"
            try await Desk.play(name, { $0.faults = FaultPlan(strictRotation: isStrict) }) { desk in
                let responses = desk.backend.hold("GET", "/articles", at: .beforeResponse)
                let refreshes = desk.backend.hold("POST", "/auth/refresh")
                try await desk.backend.expireAccessTokens()
                async let first = desk.run("list")
                async let second = desk.run("list")
                // Both have been refused before the refresh goes on: both need it.
                await responses.arrivals(2)
                responses.open()
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

        static let forgiving: [(name: String, grace: Duration, replay: String)] = [
            ("S12 grace window", .seconds(60), "60"), ("S12 key", .zero, "key"),
            // Not declared: the next start does not wait all the same, because the killed process is known to be dead.
            ("S12 undeclared grace window", .seconds(60), "none"),
        ]

        @Test(
            "S12: killed between the server's rotation and the save: the next start recovers, without waiting",
            arguments: forgiving)
        func killedAndForgiven(server: (name: String, grace: Duration, replay: String)) async throws {
            try await Desk.play(
                server.name, { $0.rotationGrace = server.grace }, environment: ["LATCHKEY_REPLAY": server.replay]
            ) { desk in
                try await desk.killBeforeTheSave()
                let next = try await desk.run("list")
                #expect(next.status == 0, "\(next.errors)")
                let refreshes = desk.backend.statistics.refreshes
                #expect(refreshes.received == 2 && refreshes.committed == 1)
                #expect(refreshes.replayedByGrace + refreshes.replayedByKey == 1)
                #expect(try await desk.run("list").status == 0)
                #expect(desk.backend.statistics.refreshes == refreshes)
            }
        }

        @Test("S12: with neither there is one replay and one ending, without waiting, and the reason is known")
        func killedAndNotForgiven() async throws {
            let folder = try TemporaryFolder()
            defer { folder.remove() }
            try await Stage.play(1, store: { _ in FileTokenStore(folder: folder.tokens) }) { stages in
                let backend = stages[0].backend
                let gate = backend.hold("POST", "/auth/refresh", at: .beforeResponse)
                try await backend.expireAccessTokens()
                // Unlike the program, these processes send no key, which the server would honour.
                let first = try Program(peerOver: folder.tokens, backend)
                await gate.arrivals(1)
                first.kill()
                _ = await first.ending
                gate.open()
                let second = try Program(peerOver: folder.tokens, backend)
                await second.says("event signedOut")
                second.stop()
                _ = await second.ending
                #expect(backend.statistics.refreshes == .init(received: 2, committed: 1, reuseDetected: 1))

                let next = Stage(backend, stages[0].setup, store: FileTokenStore(folder: folder.tokens))
                guard case .signedOut(.expired(let ending)) = try await next.session.restore() else {
                    Issue.record("\(next.session.state)")
                    return
                }
                next.report("S12 with neither", failures: 0)
                #expect(ending.status == 401 && ending.code == "REFRESH_TOKEN_REUSED")
            }
        }

        @Test("S12: killed as the save goes on, again and again: the store holds a whole bundle each time")
        func killedDuringTheSave() async throws {
            try await Desk.play("S12 during the save") { desk in
                for round in 1...10 {
                    let gate = desk.backend.hold("POST", "/auth/refresh", at: .beforeResponse)
                    try await desk.backend.expireAccessTokens()
                    let process = try desk.start("list")
                    await gate.arrivals(1)
                    gate.open()
                    // From here on the response is on its way; the kill meets the process wherever it is by then.
                    for _ in 0..<round { _ = try await desk.run("--version") }
                    process.kill()
                    _ = await process.ending
                    let next = try await desk.run("list")
                    #expect(next.status == 0, "round \(round): \(next.errors)")
                }
                #expect(desk.backend.statistics.refreshes.reuseDetected == 0)
            }
        }

        @Test("S18: a program ends right after a response that started a background refresh: it waits for the refresh")
        func endsDuringRefresh() async throws {
            try await Desk.play("S18") { desk in
                let store = try desk.store()
                try await desk.age(store, left: 30)
                let gate = desk.backend.hold("POST", "/auth/refresh", at: .beforeResponse)
                let process = try desk.start("list")
                // The server has rotated, and the program has done its work.
                await gate.arrivals(1)
                await process.says()
                #expect(desk.backend.statistics.count("GET", "/articles", status: 200) == 1)
                gate.open()
                let ending = await process.ending
                #expect(ending.status == 0, "\(ending.errors)")
                #expect(try await store.load()?.generation == 1)
                #expect(try await store.load()?.pendingRefresh == nil)

                try await desk.backend.expireAccessTokens()
                #expect(try await desk.run("list").status == 0)
                #expect(desk.backend.statistics.refreshes == .init(received: 2, committed: 2))
            }
        }

        @Test("S19: a flipped bit in the stored file is found, ends nothing, and is healed by a restored copy")
        func flippedBit() async throws {
            try await Desk.play("S19") { desk in
                let file = try desk.store().file
                let whole = try Data(contentsOf: file)
                var flipped = whole
                let place = try #require(whole.firstRange(of: Data("refreshToken".utf8))).upperBound + 8
                flipped[place] ^= 1
                try flipped.write(to: file)
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
                let requests = desk.backend.statistics.requests
                let run = try await desk.run("status")
                #expect(run.status == 74)
                #expect(run.errors.contains("is no token file"), "\(run.errors)")
                #expect(desk.backend.statistics.requests == requests)

                try whole.write(to: file)
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
                #expect(try await desk.run("list").status == 0)
            }
        }
    }
}
