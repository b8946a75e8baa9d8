import AuthInterface
import DevBackend
import Foundation
import ProgramTesting
import Storage
import Testing
import TokenRefresh

extension Scenarios {
    /// S11, S12, S18 and S19: several processes of the `articles` program over one stored session, and their end.
    @Suite struct ProcessScenarios {
        @Test(arguments: [false, true])
        func `S11: two concurrent processes over one stored session: one refresh, no failure`(isStrict: Bool)
            async throws
        {
            try await ProgramSandbox.run({ $0.faults = FaultPlan(strictRotation: isStrict) }) { sandbox in
                let responses = sandbox.backend.hold("GET", "/articles", at: .beforeResponse)
                let refreshes = sandbox.backend.hold("POST", "/auth/refresh")
                try await sandbox.backend.expireAccessTokens()
                async let first = sandbox.run("list")
                async let second = sandbox.run("list")
                // The refresh is held until both have been refused, so both need it.
                await responses.arrivals(2)
                responses.open()
                await refreshes.arrivals(1)
                refreshes.open()
                let endings = try await [first, second]
                #expect(endings.map(\.status) == [0, 0], "\(endings.map(\.errors))")
                #expect(sandbox.backend.statistics.refreshes == .init(received: 1, committed: 1))
            }
        }

        @Test func `S11: two consecutive processes over one stored session: one refresh`() async throws {
            try await ProgramSandbox.run { sandbox in
                try await sandbox.backend.expireAccessTokens()
                let endings = try await [sandbox.run("list"), sandbox.run("list")]
                #expect(endings.map(\.status) == [0, 0], "\(endings.map(\.errors))")
                #expect(sandbox.backend.statistics.refreshes == .init(received: 1, committed: 1))
            }
        }

        /// The last grace window is not declared. The next start does not wait either, because the killed process is
        /// known to have ended.
        @Test(arguments: [(Duration.seconds(60), "60"), (.zero, "key"), (.seconds(60), "none")])
        func `S12: killed between rotation and save, the next start recovers without waiting`(
            grace: Duration, replay: String
        ) async throws {
            try await ProgramSandbox.run(
                { $0.rotationGrace = grace }, environment: ["ARTICLES_REPLAY": replay]
            ) { sandbox in
                let gate = sandbox.backend.hold("POST", "/auth/refresh", at: .beforeResponse)
                try await sandbox.backend.expireAccessTokens()
                let process = try await sandbox.start("list")
                await gate.arrivals(1)
                process.kill()
                _ = await process.result
                gate.open()
                #expect(sandbox.backend.statistics.refreshes.committed == 1)
                let next = try await sandbox.run("list")
                #expect(next.status == 0, "\(next.errors)")
                let refreshes = sandbox.backend.statistics.refreshes
                #expect(refreshes.received == 2 && refreshes.committed == 1)
                #expect(refreshes.replayedByGrace + refreshes.replayedByKey == 1)
                #expect(try await sandbox.run("list").status == 0)
                #expect(sandbox.backend.statistics.refreshes == refreshes)
            }
        }

        @Test func `S12: without key and grace window there is one replay and one ending`() async throws {
            let folder = try TemporaryFolder()
            try await TestApp.run(1, store: { _ in FileTokenStore(folder: folder.tokens) }) { apps in
                let backend = apps[0].backend
                let gate = backend.hold("POST", "/auth/refresh", at: .beforeResponse)
                try await backend.expireAccessTokens()
                // Unlike the program, these processes send no key, which the server would accept.
                let first = try await ProgramSandbox.startPeer(over: folder.tokens, backend)
                await gate.arrivals(1)
                first.kill()
                _ = await first.result
                gate.open()
                let second = try await ProgramSandbox.startPeer(over: folder.tokens, backend)
                await second.waitForLine("event signedOut")
                second.kill(SIGTERM)
                _ = await second.result
                #expect(backend.statistics.refreshes == .init(received: 2, committed: 1, reuseDetected: 1))

                let next = apps[0].next(over: folder.tokens)
                let ending = try #require(try await next.session.restore().ending)
                #expect(ending.status == 401 && ending.code == "REFRESH_TOKEN_REUSED")
            }
        }

        @Test func `S12: killed during a save, again and again, the store has a complete bundle`() async throws {
            try await ProgramSandbox.run { sandbox in
                for round in 1...10 {
                    let gate = sandbox.backend.hold("POST", "/auth/refresh", at: .beforeResponse)
                    try await sandbox.backend.expireAccessTokens()
                    let process = try await sandbox.start("list")
                    await gate.arrivals(1)
                    gate.open()
                    // The response is on its way. The longer the delay, the later the kill.
                    for _ in 0..<round { _ = try await sandbox.run("--version") }
                    process.kill()
                    _ = await process.result
                    let next = try await sandbox.run("list")
                    #expect(next.status == 0, "round \(round): \(next.errors)")
                }
                #expect(sandbox.backend.statistics.refreshes.reuseDetected == 0)
            }
        }

        @Test func `S18: a program waits for its background refresh before it ends`() async throws {
            try await ProgramSandbox.run { sandbox in
                let store = try sandbox.store()
                // Of 900 seconds 30 remain. The first refresh of a session of this name starts in the background 60 s
                // before the end, and no later (G33).
                let session = SessionID(rawValue: "aged-513")
                try await store.update { found in
                    guard case .success(.active(let bundle)) = found else { return nil }
                    return .active(
                        TokenBundle(
                            accessToken: bundle.accessToken, refreshToken: bundle.refreshToken, expiresAt: Date() + 30,
                            session: session, receivedAt: Date() - 870))
                }
                let gate = sandbox.backend.hold("POST", "/auth/refresh", at: .beforeResponse)
                let process = try await sandbox.start("list")
                // The server has rotated, and the program has printed its articles.
                await gate.arrivals(1)
                await process.waitForLine()
                #expect(sandbox.backend.statistics.count("GET", "/articles", status: 200) == 1)
                gate.open()
                let ending = await process.result
                #expect(ending.status == 0, "\(ending.errors)")
                #expect(try await store.load()?.generation == 1)
                #expect(try await store.load()?.refreshIntent == nil)

                try await sandbox.backend.expireAccessTokens()
                #expect(try await sandbox.run("list").status == 0)
                #expect(sandbox.backend.statistics.refreshes == .init(received: 2, committed: 2))
            }
        }

        @Test func `S19: a flipped bit in the stored file is detected, and ends no session`() async throws {
            try await ProgramSandbox.run { sandbox in
                let file = try sandbox.store().file
                let whole = try Data(contentsOf: file)
                var flipped = whole
                let place = try #require(whole.firstRange(of: Data("refreshToken".utf8))).upperBound + 8
                flipped[place] ^= 1
                try flipped.write(to: file)
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
                let requests = sandbox.backend.statistics.requests
                let run = try await sandbox.run("status")
                #expect(run.status == 74)
                #expect(run.errors.contains("is not a token file"), "\(run.errors)")
                #expect(sandbox.backend.statistics.requests == requests)

                try whole.write(to: file)
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
                #expect(try await sandbox.run("list").status == 0)
            }
        }
    }
}
