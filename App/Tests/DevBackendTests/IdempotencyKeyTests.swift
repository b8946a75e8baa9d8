import ContractTesting
import Foundation
import GRDB
import Testing

@testable import DevBackend

@Suite(.hangLimit) struct IdempotencyKeyTests {
    private let secret = "client_id=latchkey-dev&client_secret=development-only"

    @Test(.server) func `the same key returns the same tokens again`() async throws {
        let signedIn = try await client.signIn()
        let first = try await client.rotate(signedIn.refreshToken, key: "k1")
        let again = try await client.rotate(signedIn.refreshToken, key: "k1")
        #expect(again == first)
        #expect(try await client.get("/users/me", token: again.accessToken).status == 200)
        #expect(backend.statistics.refreshes == .init(received: 2, committed: 1, replayedByKey: 1))
        #expect(try await client.refresh(again.refreshToken, key: "k2").status == 200)
    }

    @Test(.server, arguments: ["other", nil])
    func `a spent token with another key or none counts as reuse, and revokes its family`(key: String?) async throws {
        let signedIn = try await client.signIn()
        let bystander = try await client.signIn(name: "Grace")
        let pair = try await client.rotate(signedIn.refreshToken, key: "k1")
        #expect(try await client.refresh(signedIn.refreshToken, key: key).outcome == "401 REFRESH_TOKEN_REUSED")
        #expect(try await client.refresh(pair.refreshToken).code == "SESSION_REVOKED")
        #expect(try await client.get("/users/me", token: pair.accessToken).code == "SESSION_REVOKED")
        #expect(try await client.get("/users/me", token: bystander.accessToken).status == 200)
        #expect(try await client.refresh(signedIn.refreshToken, key: "k1").code == "SESSION_REVOKED")
        #expect(
            backend.statistics.refreshes == .init(received: 4, committed: 1, reuseDetected: 1, rejected: 2))
    }

    @Test(.server) func `an older token with its own key is refused without counting as reuse`() async throws {
        let signedIn = try await client.signIn()
        let second = try await client.rotate(signedIn.refreshToken, key: "k1")
        let third = try await client.rotate(second.refreshToken, key: "k2")
        #expect(try await client.refresh(signedIn.refreshToken, key: "k1").outcome == "401 REFRESH_TOKEN_SUPERSEDED")
        #expect(try await client.get("/users/me", token: third.accessToken).status == 200)
        #expect(try await client.rotate(second.refreshToken, key: "k2") == third)
        #expect(try await client.refresh(third.refreshToken, key: "k3").status == 200)
        #expect(
            backend.statistics.refreshes
                == .init(received: 5, committed: 3, replayedByKey: 1, rejected: 1))
        #expect(try await client.refresh(signedIn.refreshToken, key: "k2").code == "REFRESH_TOKEN_REUSED")
    }

    @Test(.clockedServer { $0.accessTokenLifetime = .seconds(90) })
    func `the token endpoint repeats its result with the remaining lifetime`() async throws {
        // Not a whole second: the lifetime of a new token must not depend on the fraction.
        clock.advance(by: .milliseconds(700))
        let signedIn = try await client.signIn()
        let form = "grant_type=refresh_token&refresh_token=\(signedIn.refreshToken)&\(secret)"
        func refresh() async throws -> Received.Response {
            try await client.post("/oauth2/token", form: form, headers: ["Idempotency-Key": "k1"])
        }
        let first = try await refresh()
        clock.advance(by: .seconds(30))
        let second = try await refresh()
        clock.advance(by: .seconds(3600))
        let third = try await refresh()
        for again in [second, third] {
            #expect(again.status == 200)
            #expect(again.member("access_token") == first.member("access_token"))
            #expect(again.member("refresh_token") == first.member("refresh_token"))
        }
        #expect([first, second, third].map { $0.member("expires_in") } == ["90", "60", "0"])
        #expect(backend.statistics.refreshes == .init(received: 3, committed: 1, replayedByKey: 2))
    }

    @Test(.server, arguments: ["", String(repeating: "k", count: 256)])
    func `an empty or too long key is rejected before the token is spent`(key: String) async throws {
        let signedIn = try await client.signIn()
        let response = try await client.refresh(signedIn.refreshToken, key: key)
        #expect(response.outcome == "400 VALIDATION_FAILED")
        #expect(response.fields == ["Idempotency-Key"])
        #expect(backend.statistics.refreshes.committed == 0)
        #expect(try await client.refresh(signedIn.refreshToken).status == 200)
    }

    @Test(.server) func `only digests of keys are stored`() async throws {
        var token = try await client.signIn().refreshToken
        for number in 1...4 {
            token = try await client.rotate(token, key: "key-\(number)").refreshToken
        }
        let records = try await backend.database.writer.read { database in
            try Stored.RefreshToken.order(Column("generation")).fetchAll(database)
        }
        #expect(records.map { $0.keyDigest?.count } == [32, 32, 32, 32, nil])
        #expect(Set(records.compactMap(\.keyDigest)).count == 4)
    }
}
