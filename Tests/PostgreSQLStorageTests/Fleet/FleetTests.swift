#if PostgreSQL
import AuthInterface
import AuthTesting
import Foundation
import Storage
import Testing

@Suite("G13: one refresh for a whole fleet", .needsPostgreSQL, .timeLimit(.minutes(3)))
struct FleetTests {
    private static let size = 9
    private static let goal = 30
    private static let killAt = 8
    private static let restartAt = 16

    @Test func `a fleet keeps its session through a kill in mid-refresh and a restart of the database`() async throws {
        let server = try await PostgreSQLServer()
        let store = server.store("fleet")
        try await store.prepare()
        let (restartDue, restarted) = (Gate(), Gate())
        let desk = RefreshDesk(plans: [
            Self.killAt: { peer, desk in
                desk.leave()
                peer.process.kill()
                return .isLost
            },
            Self.restartAt: { _, _ in
                restartDue.open()
                await restarted.pass()
                return .isGiven
            },
        ])
        try await store.save(TokenBundle(first: desk.server.signIn()))
        let fleet = try await Fleet(
            of: Self.size,
            at: server.connection,
            account: "fleet",
            until: Self.goal,
            desk: desk
        )
        try fleet.go()

        try await restartDue.passUnlessCancelled()
        try await server.crash()
        try await server.start()
        let start = fleet.journal.lines.count
        // Until as many have asked for the lease as would have it by now, did it not belong to one who is under way.
        let haveTried = await fleet.journal.waitFor(4, after: start) {
            $0.hasSuffix(" failed busy") || $0.contains(" refresh ")
        }
        #expect(haveTried)
        restarted.open()

        let results = await fleet.results(of: Self.size - 1)
        let stored = try await store.load()
        await fleet.finish()
        await server.finish()
        expectOneSession(results, stored, desk, fleet)
        print(
            "fleet: \(Self.size) processes, 1 killed, 1 restart, \(desk.server.requests) refreshes, "
                + "\(desk.server.rotations) rotations, \(desk.replays) replayed, \(desk.server.reuses) reused, "
                + "\(desk.mostAtOnce) at once, \(fleet.count("adopted")) adopted, \(fleet.count("failed busy")) busy, "
                + "\(fleet.count("unsaved")) unsaved, \(fleet.count("signed out")) signed out, "
                + "all at generation \(stored?.generation ?? -1)"
        )
    }

    private func expectOneSession(_ results: [String], _ stored: TokenBundle?, _ desk: RefreshDesk, _ fleet: Fleet) {
        let newest = TokenBundle.fleet(Self.goal)
        #expect(stored?.generation == Self.goal)
        #expect(stored?.accessToken == newest.accessToken)
        #expect(stored?.refreshToken == newest.refreshToken)
        #expect(results.count == Self.size - 1)
        #expect(Set(results) == ["\(Self.goal) \(newest.accessToken) \(newest.refreshToken ?? "")"])
        #expect(desk.server.reuses == 0, "a spent token was used again, and the session revoked")
        #expect(desk.replays == 1, "the answer that died with its process is asked for again, and no other")
        #expect(desk.server.rotations == Self.goal)
        #expect(desk.mostAtOnce == 1)
        #expect(fleet.count("signed out") == 0)
        #expect(fleet.count("unsaved leaseLost") == 1, "the holder at the restart learns that its lease is lost")
    }
}

extension TokenBundle {
    /// What a login brought.
    fileprivate init(first tokens: TokenRefreshResult) {
        self.init(accessToken: tokens.accessToken, refreshToken: tokens.refreshToken)
    }
}
#endif
