#if PostgreSQL
import AuthInterface
import ContractTesting
import Foundation
import Storage
import Testing

@testable import PostgreSQLStorage

@Suite("The rows of the PostgreSQL store", .needsPostgreSQL, .timeLimit(.minutes(10)))
struct PostgreSQLTokenStoreTests {
    private let server: PostgreSQLServer

    init() async throws { server = try await .shared }

    @Test func `an account may have any name, and deleting one leaves the others`() async throws {
        let first = server.store()
        let names = ["", "'; DELETE FROM latchkey_tokens; --", "/1", "\u{1f511} $1 \\ \"", "%s\n\t"]
        let stores = names.map { first.store(for: first.account + $0) }
        for (number, store) in stores.enumerated() {
            try await store.save(.fleet(number))
            await (try await store.lease(waitingAtMost: .zero)).release()
        }
        try await stores[2].delete()
        for (number, store) in stores.enumerated() {
            #expect(try await store.load() == (number == 2 ? nil : .fleet(number)))
        }
    }

    @Test func `the table may be prepared again, and by many processes at once`() async throws {
        let table = try #require(PostgreSQLTable("prepared by many"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { try await server.store(table: table).prepare() } }
            try await group.waitForAll()
        }
        let store = try await server.store(table: table).holding(.fleet(1))
        try await store.prepare()
        #expect(try await store.load() == .fleet(1))
    }

    @Test(arguments: [#"Tokens "of" the fleet"#, #"x"; DROP TABLE latchkey_tokens; --"#, "jetons d\u{e9}j\u{e0}"])
    func `a table may have any name, in any schema`(name: String) async throws {
        let table = try #require(PostgreSQLTable(name, schema: "Schema \"of\" tests"))
        try await server.run(#"CREATE SCHEMA IF NOT EXISTS "Schema ""of"" tests""#)
        let store = server.store(table: table)
        try await store.prepare()
        try await store.save(.fleet(1))
        await (try await store.lease(waitingAtMost: .zero)).release()
        #expect(try await store.load() == .fleet(1))
    }

    @Test(arguments: ["", "zero\0byte", String(repeating: "x", count: 64)])
    func `a table name that the server would change is invalid`(name: String) {
        #expect(PostgreSQLTable(name) == nil)
        #expect(PostgreSQLTable("tokens", schema: name) == nil)
    }

    @Test func `an account is not mistaken for a prefix of its name`() async throws {
        let store = try await server.store().holding(.fleet(1))
        await expectFailure(.unavailable) { _ = try await store.store(for: store.account + "\0b").load() }
    }

    @Test func `the table shows generation and session, and no token`() async throws {
        let store = try await server.store(cipher: ScramblingCipher()).holding(.fleet(7))
        let row = try await server.run(
            """
            SELECT generation, session, position('access-'::bytea IN ciphertext) = 0,
                position('refresh-'::bytea IN ciphertext) = 0, clock_timestamp() - updated_at < interval '1 minute'
            FROM latchkey_tokens WHERE account = $1
            """,
            [.text(store.account)]
        )
        #expect(row.integer(0) == 7)
        #expect(row.text(1) == TokenBundle.fleet(7).session.rawValue)
        #expect((2...4).allSatisfy { row.flag($0) })
    }

    @Test(arguments: ["account = account || '/moved'", "generation = 9", "session = 'another'"])
    func `tokens that were moved to another row are not opened`(change: String) async throws {
        for cipher in [ScramblingCipher(), UnencryptedTokenCipher()] as [any TokenCipher] {
            // Without encryption only the bundle names its session, and it does not contain the account.
            if cipher is UnencryptedTokenCipher, change.hasPrefix("account") { continue }
            let store = try await server.store(cipher: cipher).holding(.fleet(1))
            try await server.set("\(change)", of: store.account)
            let reader = change.hasPrefix("account") ? store.store(for: store.account + "/moved") : store
            await expectFailure(.unavailable, "with this key") { _ = try await reader.load() }
        }
    }

    @Test func `a row of a later version is not changed`() async throws {
        let store = try await server.store().holding(.fleet(1))
        try await server.set("format_version = 3", of: store.account)
        await store.expectFailures(.unsupportedVersion)
        try await server.set("format_version = 2", of: store.account)
        #expect(try await store.load() == .fleet(1))
    }

    @Test func `a deleted account leaves no row, and its next claim has a larger fence`() async throws {
        let store = server.store()
        func isThere() async throws -> Bool {
            let question = "SELECT EXISTS (SELECT FROM latchkey_tokens WHERE account = $1)"
            return try await server.run(question, [.text(store.account)]).flag(0)
        }
        let first = try #require(try await store.lease(waitingAtMost: .zero) as? PostgreSQLTokenStoreLease)
        try await store.save(.fleet(1))
        try await store.delete()
        #expect(try await isThere(), "the lease is still claimed")
        await first.release()
        #expect(try await !isThere())
        let second = try #require(try await store.lease(waitingAtMost: .zero) as? PostgreSQLTokenStoreLease)
        #expect(second.fence > first.fence)
        await second.release()
        #expect(try await !isThere())
    }

    @Test func `a database that was made read-only is unavailable, and the error names the setting`() async throws {
        let role = "thawing_\(UInt32.random(in: 0...UInt32.max))"
        let store = try await server.store().holding(.fleet(1))
        try await server.run("CREATE ROLE \(role) LOGIN")
        try await server.run("GRANT ALL ON latchkey_tokens TO \(role)")
        try await server.run("ALTER ROLE \(role) SET default_transaction_read_only = on")
        let late = ConnectionTo("\(server.connection) user=\(role)").store(store.account)
        await late.expectFailures(.unavailable, "default_transaction_read_only", ofLease: true)
        #expect(try await store.load() == .fleet(1))
        // The same store uses the database again once it takes writes.
        try await server.run("ALTER ROLE \(role) RESET default_transaction_read_only")
        #expect(try await late.load() == .fleet(1))
    }

    @Test func `the error for a missing table says what to do`() async throws {
        let table = try #require(PostgreSQLTable("not prepared"))
        let store = server.store(table: table)
        await store.expectFailures(.unavailable, "prepare()", ofLease: true)
    }

    // MARK: A row that this process cannot open is kept

    @Test func `without its key the row is unavailable, and nothing replaces or removes it`() async throws {
        let store = try await server.store(cipher: ScramblingCipher()).holding(.fleet(1))
        for (cipher, words) in [
            (ScramblingCipher(key: 7), "with this key"), (UnencryptedTokenCipher(), "with this key"),
            (FailingCipher(), "no key service"),
        ] as [(any TokenCipher, String)] {
            await server.store(store.account, cipher: cipher).expectFailures(.unavailable, words)
        }
        #expect(try await store.load() == .fleet(1))
    }

    @Test func `a sign-in replaces a row whose key was lost, if the options allow it`() async throws {
        let store = try await server.store(cipher: ScramblingCipher()).holding(.fleet(1))
        var options = PostgreSQLOptions()
        options.replacesUnreadableRows = true
        let successor = server.store(store.account, cipher: ScramblingCipher(key: 7), options: options)
        await expectFailure(.corrupt) { _ = try await successor.load() }
        #expect(try await successor.holding(.fleet(0, session: "a sign-in")).load() == .fleet(0, session: "a sign-in"))
        await expectFailure(.unavailable) { _ = try await store.load() }
    }

    @Test func `a tombstone is read without the key, and holds no token`() async throws {
        let store = try await server.store(cipher: ScramblingCipher()).holding(.fleet(1))
        let session = TokenBundle.fleet(1).session
        let tombstone = SessionTombstone(session: session, reason: .application("account disabled"), date: Date())
        try await store.update { _ in .tombstone(tombstone) }
        let stranger = server.store(store.account, cipher: ScramblingCipher(key: 7))
        #expect(try await stranger.read() == .tombstone(tombstone))
        #expect(try await stranger.load() == nil)
        let row = try await server.run(
            "SELECT ciphertext IS NULL, position('fleet-'::bytea IN ended) > 0 FROM latchkey_tokens WHERE account = $1",
            [.text(store.account)])
        #expect(row.flag(0) && row.flag(1))
    }

    @Test func `a cipher that does not return is abandoned, and its row unlocked`() async throws {
        let cipher = GatedCipher()
        let store = server.store(cipher: cipher, limits: .patient.with { $0.cipher = .milliseconds(50) })
        await expectFailure(.unavailable, "the token cipher") { try await store.save(.fleet(1)) }
        try await server.store(store.account).save(.fleet(2))
        cipher.sealing.open()
    }
}
#endif
