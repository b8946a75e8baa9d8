#if PostgreSQL
import AuthTesting
import Foundation
import Testing

@testable import PostgreSQLStorage

@Suite("The PostgreSQL store keeps the contracts", .needsPostgreSQL, .timeLimit(.minutes(10)))
struct PostgreSQLContractTests {
    @Test func `the PostgreSQL store is a token store`() async throws {
        let server = try await PostgreSQLServer.shared
        try await TokenStoreContract.check(
            reopen: { server.store($0.account, cipher: ScramblingCipher()) },
            unavailable: { store in
                ConnectionTo("host=\(server.folder)/nowhere user=latchkey")
                    .store(store.account, cipher: ScramblingCipher())
            },
            makeEmptyStore: { server.store(cipher: ScramblingCipher()) }
        )
    }

    @Test func `the PostgreSQL store can be shared`() async throws {
        let server = try await PostgreSQLServer.shared
        try await SharedTokenStoreContract.check(
            reopen: { server.store($0.account, cipher: ScramblingCipher()) },
            // More than the size limit.
            corrupt: {
                try await server.set("ciphertext = decode(repeat('00', 2000000), 'hex'), ended = NULL", of: $0.account)
            },
            contents: { try await server.contents(of: $0.account) },
            makeEmptyStore: { server.store(cipher: ScramblingCipher()) }
        )
    }

    @Test func `accounts that share connections keep the contract of shared stores`() async throws {
        let first = try await PostgreSQLServer.shared.store()
        try await SharedTokenStoreContract.check(
            reopen: { first.store(for: $0.account) }, makeEmptyStore: { first.store(for: UUID().uuidString) })
    }

    @Test(.needsPgBouncer)
    func `behind PgBouncer in transaction mode it can be shared, and leaves no state in the server`() async throws {
        let server = try await PostgreSQLServer()
        let pooler = try await PgBouncer(before: server)
        let quick = PostgreSQLLimits.patient.with { $0.changePolling = .milliseconds(20) }
        try await SharedTokenStoreContract.check(
            reopen: { pooler.store($0.account, cipher: ScramblingCipher(), limits: quick) },
            makeEmptyStore: { pooler.store(cipher: ScramblingCipher(), limits: quick) })
        // PgBouncer gives this client the server sessions that the stores have used.
        let traces = try await pooler.store().traces()
        #expect(traces == ["advisory locks: 0", "channels: 0", "prepared statements: 0"])
        await pooler.finish()
        await server.finish()
    }
}

extension PostgreSQLServer {
    fileprivate func contents(of account: String) async throws -> Data {
        let rows = try await run(
            "SELECT coalesce(ciphertext, '') || coalesce(ended, '') FROM latchkey_tokens WHERE account = $1",
            [.text(account)])
        return rows.value(0) ?? Data()
    }
}

extension PostgreSQLTokenStore {
    /// The state that earlier calls have left in the current server session.
    fileprivate func traces() async throws -> [String] {
        let questions = [
            "SELECT 'advisory locks: ' || count(*) FROM pg_locks WHERE locktype = 'advisory'",
            "SELECT 'channels: ' || count(*) FROM pg_listening_channels()",
            "SELECT 'prepared statements: ' || count(*) FROM pg_prepared_statements WHERE name <> ''",
        ]
        return try await session.database.write { open throws(PostgreSQLFailure) in
            var traces: [String] = []
            for question in questions {
                traces.append(try open.execute(PostgreSQLStatement(text: question)).text(0) ?? "none")
            }
            return traces
        }
    }
}
#endif
