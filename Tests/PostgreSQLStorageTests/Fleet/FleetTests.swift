#if PostgreSQL
import AuthInterface
import AuthTesting
import ContractTesting
import Testing

@Suite("G13: one refresh for a whole fleet", .needsPostgreSQL, .timeLimit(.minutes(10))) struct FleetTests {
    @Test func `a fleet keeps its session through a kill in mid-refresh and a restart of the database`() async throws {
        let database = try await PostgreSQLServer()
        let store = database.store("fleet")
        let (restartDue, restarted) = (Gate(), Gate())
        let server = RotatingTokenServer(tolerating: .sameKey)
        let first = server.signIn()
        try await store.save(TokenBundle(accessToken: first.accessToken, refreshToken: first.refreshToken))
        let fleet = try await Fleet(
            of: 9, at: database.connection, account: "fleet", until: 30, server: server
        ) { number in
            if number == 16 {
                restartDue.open()
                await restarted.pass()
            }
            return number != 8  // it is killed
        }
        try fleet.go()

        try await restartDue.passUnlessCancelled()
        try await database.crash()
        try await database.start()
        // Other processes have reconnected, but cannot take the lease of the process whose refresh is under way.
        try await database.wait(
            until: """
                SELECT count(*) >= 4 FROM pg_stat_activity
                WHERE application_name = 'latchkey' AND query NOT LIKE 'LISTEN%'
                """
        )
        restarted.open()

        let results = await fleet.results(of: 8)
        let stored = try await store.load()
        await fleet.finish()
        await database.finish()

        let newest = TokenBundle.fleet(30)
        #expect(stored?.generation == 30 && stored?.refreshIntent == nil)
        #expect(stored?.accessToken == newest.accessToken && stored?.refreshToken == newest.refreshToken)
        #expect(results.count == 8 && Set(results) == ["30 \(newest.accessToken) \(newest.refreshToken ?? "")"])
        #expect(server.reuses == 0, "a spent token was used again, and the session revoked")
        #expect(server.repetitions == 1, "the response that was lost with its process is asked for again, and no other")
        #expect(server.rotations == 30)
        #expect(fleet.mostAtOnce == 1)
        #expect(fleet.count(" signed out") == 0)
    }
}
#endif
