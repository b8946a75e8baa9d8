#if PostgreSQL
import ContractTesting
import AuthInterface
import AuthTesting
import Foundation
import Storage
import Testing

@testable import PostgreSQLStorage

@Suite("A row that this process cannot open is kept", .needsPostgreSQL, .timeLimit(.minutes(10)))
struct PostgreSQLKeyTests {
    private let server: PostgreSQLServer

    init() async throws {
        server = try await .shared
    }

    @Test func `with a wrong key the row is unavailable, and nothing replaces or removes it`() async throws {
        let store = try await server.store(cipher: ScramblingCipher()).holding(.fleet(1))
        for cipher in [ScramblingCipher(key: 7), UnencryptedTokenCipher()] as [any TokenCipher] {
            let stranger = server.store(store.account, cipher: cipher)
            await stranger.expectFailures(.unavailable, "with this key")
        }
        #expect(try await store.load() == .fleet(1))
    }

    @Test func `a sign-in replaces a row whose key was lost, if the options allow it`() async throws {
        let store = try await server.store(cipher: ScramblingCipher()).holding(.fleet(1))
        var options = PostgreSQLOptions()
        options.replacesUnreadableRows = true
        let successor = server.store(store.account, cipher: ScramblingCipher(key: 7), options: options)
        #expect(await storeFailure { _ = try await successor.load() }?.code == .corrupt)
        #expect(try await successor.holding(.fleet(0, session: "a sign-in")).load() == .fleet(0, session: "a sign-in"))
        #expect(await storeFailure { _ = try await store.load() }?.code == .unavailable)
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
            [.text(store.account)]
        )
        #expect(row.flag(0) && row.flag(1))
    }

    @Test func `a key service that fails or refuses is unavailable`() async throws {
        let store = try await server.store(cipher: ScramblingCipher()).holding(.fleet(1))
        let absent = FailingCipher(error: TokenStoreError(.unavailable, reason: "no key"))
        for cipher in [absent, FailingCipher(error: ScramblingCipher.Refusal())] {
            let blind = server.store(store.account, cipher: cipher)
            #expect(await storeFailure { _ = try await blind.load() }?.code == .unavailable)
            #expect(await storeFailure { try await blind.save(.fleet(2)) }?.code == .unavailable)
        }
        #expect(try await store.load() == .fleet(1))
    }

    @Test func `a cipher that does not return is abandoned, and its row unlocked`() async throws {
        let cipher = GatedCipher()
        let store = server.store(cipher: cipher, limits: .patient.with { $0.cipher = .milliseconds(50) })
        let error = await storeFailure { try await store.save(.fleet(1)) }
        #expect(error?.code == .unavailable)
        #expect(error?.reason.contains("the token cipher") == true)
        try await server.store(store.account).save(.fleet(2))
        cipher.sealing.open()
    }
}
#endif
