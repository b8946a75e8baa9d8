#if PostgreSQL
import AuthInterface
import AuthTesting
import Foundation
import Storage
import Testing

@Suite("The PostgreSQL store keeps the contracts", .needsPostgreSQL, .timeLimit(.minutes(3)))
struct PostgreSQLContractTests {
    @Test func `the PostgreSQL store is a token store`() async throws {
        let server = try await PostgreSQLServer.shared
        try await TokenStoreContract.check(
            reopen: { server.store($0.account, cipher: ScramblingCipher()) },
            unavailable: { store in
                PostgreSQLTokenStore(
                    connection: "host=\(server.folder)/nowhere user=latchkey",
                    account: store.account,
                    cipher: ScramblingCipher()
                )
            },
            makeEmptyStore: { server.store(cipher: ScramblingCipher()) }
        )
    }

    @Test func `the PostgreSQL store can be shared`() async throws {
        let server = try await PostgreSQLServer.shared
        try await SharedTokenStoreContract.check(
            reopen: { server.store($0.account, cipher: ScramblingCipher()) },
            makeEmptyStore: { server.store(cipher: ScramblingCipher()) }
        )
    }

    @Test func `accounts that share connections keep the contract of shared stores`() async throws {
        let first = try await PostgreSQLServer.shared.store()
        try await SharedTokenStoreContract.check(
            reopen: { first.store(for: $0.account) },
            makeEmptyStore: { first.store(for: UUID().uuidString) }
        )
    }
}
#endif
