#if PostgreSQL
import AuthInterface
import AuthTesting
import ContractTesting
import Foundation
import PostgreSQLStorage
import Storage
import TestSupport
import Testing

@Suite("G13: one refresh for a whole fleet", .needsPostgreSQL, .timeLimit(.minutes(10)))
struct FleetTests {
    private static let size = 9
    private static let goal = 30
    private static let killAt = 8
    private static let restartAt = 16

    @Test func `a fleet keeps its session through a kill in mid-refresh and a restart of the database`() async throws {
        let database = try await PostgreSQLServer()
        let store = database.store("fleet")
        let (restartDue, restarted) = (Gate(), Gate())
        let server = RotatingTokenServer(tolerating: .sameKey)
        let first = server.signIn()
        try await store.save(TokenBundle(accessToken: first.accessToken, refreshToken: first.refreshToken))
        let fleet = try await Fleet(
            of: Self.size, at: database.connection, account: "fleet", until: Self.goal, server: server
        ) { number in
            if number == Self.restartAt {
                restartDue.open()
                await restarted.pass()
            }
            return number != Self.killAt
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

        let results = await fleet.results(of: Self.size - 1)
        let stored = try await store.load()
        await fleet.finish()
        await database.finish()
        print(
            "fleet: \(Self.size) processes, 1 killed, 1 restart, \(server.refreshes) refreshes, "
                + "\(fleet.count(" adopted")) adopted, \(fleet.count(" unsaved")) unsaved")

        let newest = TokenBundle.fleet(Self.goal)
        #expect(stored?.generation == Self.goal)
        #expect(stored?.accessToken == newest.accessToken)
        #expect(stored?.refreshToken == newest.refreshToken)
        #expect(stored?.refreshIntent == nil)
        #expect(results.count == Self.size - 1)
        #expect(Set(results) == ["\(Self.goal) \(newest.accessToken) \(newest.refreshToken ?? "")"])
        #expect(server.reuses == 0, "a spent token was used again, and the session revoked")
        #expect(server.repetitions == 1, "the response that was lost with its process is asked for again, and no other")
        #expect(server.rotations == Self.goal)
        #expect(fleet.mostAtOnce == 1)
        #expect(fleet.count(" signed out") == 0)
    }
}
#endif
