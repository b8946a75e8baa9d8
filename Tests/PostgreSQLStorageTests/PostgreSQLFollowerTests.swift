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
    @Test func `G29: a role of the followers' table gets access tokens, and cannot spend or write`() async throws {
        let server = try await PostgreSQLServer()
        let table = try #require(PostgreSQLTable("latchkey_followers"))
        let role = ["CREATE ROLE follower LOGIN", "GRANT SELECT ON latchkey_followers TO follower"]
        for statement in [table.definition] + role { try await server.run(statement) }
        let reader = ConnectionTo("host=\(server.folder) user=follower dbname=postgres")
        let (account, ownerKey, followerKey) = ("account", ScramblingCipher(key: 0x11), ScramblingCipher(key: 0x22))
        let owner = FollowedTokenStore(
            server.store(account, cipher: ownerKey),
            publishing: server.store(account, table: table, cipher: followerKey))
        try await owner.save(.fleet(3))
        #expect(await owner.settle(within: .seconds(3_600)))

        let source = reader.store(account, table: table, cipher: followerKey)
        var policy = FollowerPolicy()
        policy.readLimit = .seconds(600)
        let follower = SessionFollower(source, policy: policy)
        #expect(try await follower.restore() == .signedIn(TokenBundle.fleet(3).session))
        #expect(follower.validToken?.value == TokenBundle.fleet(3).accessToken)
        #expect(try await source.load()?.refreshToken == nil)
        await expectFailure(.unavailable) { _ = try await source.save(.fleet(4)) }

        let spied = reader.store(account, cipher: ownerKey)
        await expectFailure(.unavailable) { _ = try await spied.read() }  // no right
        let opened = server.store(account, cipher: followerKey)
        await expectFailure(.unavailable) { _ = try await opened.read() }  // nor the key

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
}
#endif
