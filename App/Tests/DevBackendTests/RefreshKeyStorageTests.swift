import Crypto
import Foundation
import GRDB
import Testing

@testable import DevBackend

@Suite(.hangLimit) struct RefreshKeyStorageTests {
    private let clock = ManualClock()

    private var configuration: DevBackend.Configuration {
        var configuration = DevBackend.Configuration()
        configuration.now = { [clock] in clock.now }
        configuration.refreshTokenLifetime = .seconds(100)
        return configuration
    }

    private func records(_ backend: DevBackend) async throws -> [Stored.RefreshToken] {
        try await backend.database.writer.read { database in
            try Stored.RefreshToken.order(Column("generation")).fetchAll(database)
        }
    }

    @Test func `only digests of keys are stored, and only the predecessor has a result`() async throws {
        try await TestClient.withServer(configuration) { backend, client in
            var token = try await client.signIn().refreshToken
            for number in 1...4 {
                token = try await client.refresh(token, key: "key-\(number)").data(Received.TokenPair.self).refreshToken
            }
            let records = try await records(backend)
            #expect(records.map { $0.keyDigest?.count } == [32, 32, 32, 32, nil])
            #expect(Set(records.compactMap(\.keyDigest)).count == 4)
            #expect(records.map { $0.accessClaims != nil } == [false, false, false, true, false])
        }
    }

    @Test func `spent tokens are deleted after their expiry`() async throws {
        try await TestClient.withServer(configuration) { backend, client in
            var token = try await client.signIn().refreshToken
            for number in 1...50 {
                clock.advance(by: .seconds(20))
                token = try await client.refresh(token, key: "key-\(number)").data(Received.TokenPair.self).refreshToken
            }
            let records = try await records(backend)
            #expect(records.map(\.generation) == Array(46...50))
        }
    }

    @Test func `the predecessor is kept after its expiry`() async throws {
        try await TestClient.withServer(configuration) { _, client in
            let first = try await client.signIn().refreshToken
            let pair = try await client.refresh(first, key: "k1").data(Received.TokenPair.self)
            clock.advance(by: .seconds(1000))
            #expect(try await client.refresh(first, key: "k1").data(Received.TokenPair.self) == pair)
        }
    }

    @Test func `the same key of two clients has two digests`() {
        let secret = SymmetricKey(size: .bits256)
        let keys = [("a", "k"), (nil, "k"), (nil, "1:ak"), ("", "1:ak"), ("", "k"), ("1:a", "k"), ("a", "K")]
        let digests = keys.map { client, value in RefreshToken.Key(client: client, value: value).digest(under: secret) }
        #expect(Set(digests).count == keys.count)
    }
}
