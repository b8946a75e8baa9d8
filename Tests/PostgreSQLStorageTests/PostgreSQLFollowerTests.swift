#if PostgreSQL
import AuthInterface
import Foundation
import Storage
import TestSupport
import Testing
import TokenRefresh

@testable import PostgreSQLStorage

/// G29: followers of a fleet's session read a table of their own, under a key and a role of their own.
@Suite(.needsPostgreSQL, .timeLimit(.minutes(10))) struct PostgreSQLFollowerTests {
    private let account = UUID().uuidString
    private let ownerKey = ScramblingCipher(key: 0x11)
    private let followerKey = ScramblingCipher(key: 0x22)

    /// A server with both tables and a role that may read the followers' table and nothing else.
    private struct Place {
        let server: PostgreSQLServer
        let table: PostgreSQLTable
        var reader: ConnectionTo { ConnectionTo("host=\(server.folder) user=follower dbname=postgres") }

        init() async throws {
            server = try await PostgreSQLServer()
            table = try #require(PostgreSQLTable("latchkey_followers"))
            try await server.run(table.definition)
            try await server.run("CREATE ROLE follower LOGIN")
            try await server.run("GRANT SELECT ON latchkey_followers TO follower")
        }
    }

    @Test func `G29: a role that reads the followers' table gets the access token, and can neither spend nor write`()
        async throws
    {
        let place = try await Place()
        let (server, table) = (place.server, place.table)
        let owner = FollowedTokenStore(
            server.store(account, cipher: ownerKey),
            publishing: server.store(account, table: table, cipher: followerKey))
        try await owner.save(.fleet(3))
        #expect(await owner.settle(within: .seconds(3_600)))

        let source = place.reader.store(account, table: table, cipher: followerKey)
        var policy = FollowerPolicy()
        policy.readLimit = .seconds(600)
        let follower = SessionFollower(source, policy: policy)
        #expect(try await follower.restore() == .signedIn(TokenBundle.fleet(3).session))
        #expect(follower.validToken?.value == TokenBundle.fleet(3).accessToken)
        #expect(try await source.load()?.refreshToken == nil)
        #expect(await storeFailure { _ = try await source.save(.fleet(4)) }?.code == .unavailable)

        let spied = place.reader.store(account, cipher: ownerKey)
        #expect(await storeFailure { _ = try await spied.read() }?.code == .unavailable, "no right")
        let opened = server.store(account, cipher: followerKey)
        #expect(await storeFailure { _ = try await opened.read() }?.code == .unavailable, "nor the key")

        try await owner.save(.fleet(4))
        try await until { follower.validToken?.generation == 4 }
        let ended = SessionTombstone(session: TokenBundle.fleet(3).session, reason: .expired(), date: Date())
        try await owner.update { _ in .tombstone(ended) }
        try await until { follower.state == .signedOut(.expired()) }
        #expect(await owner.settle(within: .seconds(3_600)))
        let rows = try await server.run("SELECT ciphertext FROM latchkey_followers")
        #expect(rows.value(0) == nil, "the token is removed")
        await server.finish()
    }

    @Test func `G29: the hosts of a fleet publish what the fleet's table holds, whichever of them is late`()
        async throws
    {
        let place = try await Place()
        let stores = (0..<3).map { _ in
            FollowedTokenStore(
                place.server.store(account, cipher: ownerKey),
                publishing: place.server.store(account, table: place.table, cipher: followerKey))
        }
        for generation in 0..<12 { try await stores[generation % 3].save(.fleet(generation)) }
        for store in stores { #expect(await store.settle(within: .seconds(3_600))) }
        let source = place.reader.store(account, table: place.table, cipher: followerKey)
        let newest = StoredSession.active(TokenBundle.fleet(11).withoutRefreshToken)
        #expect(try await source.read() == newest)
        let stale = place.server.store(account, table: place.table, cipher: followerKey)
        try await stale.update { _ in .active(TokenBundle.fleet(3).withoutRefreshToken) }
        try await until { try await source.read() == newest }
        await place.server.finish()
    }
}
#endif
