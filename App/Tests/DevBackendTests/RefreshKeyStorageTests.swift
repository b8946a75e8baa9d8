import Crypto
import Foundation
import GRDB
import Testing

@testable import DevBackend

@Suite(.untilStuck) struct RefreshKeyStorageTests {
    private let clock = ManualClock()

    private var configuration: DevBackend.Configuration {
        var configuration = DevBackend.Configuration()
        configuration.now = { [clock] in clock.now }
        configuration.refreshTokenLifetime = .seconds(100)
        return configuration
    }

    private func records(_ backend: DevBackend) async throws -> [RefreshTokenRecord] {
        try await backend.database.writer.read { database in
            try RefreshTokenRecord.order(Column("generation")).fetchAll(database)
        }
    }

    @Test func onlyDigestsOfKeysAreStoredAndOnlyThePredecessorHasAResult() async throws {
        try await DevBackend.withServer(configuration) { backend in
            let client = TestClient(backend)
            var token = try await client.signIn().refreshToken
            for number in 1...4 {
                token = try await client.refresh(token, key: "key-\(number)").data(Pair.self).refreshToken
            }
            let records = try await records(backend)
            #expect(records.map { $0.keyDigest?.count } == [32, 32, 32, 32, nil])
            #expect(Set(records.compactMap(\.keyDigest)).count == 4)
            #expect(records.map { $0.accessClaims != nil } == [false, false, false, true, false])
        }
    }

    @Test func spentTokensAreForgottenOnceTheyWouldHaveExpired() async throws {
        try await DevBackend.withServer(configuration) { backend in
            let client = TestClient(backend)
            var token = try await client.signIn().refreshToken
            for number in 1...50 {
                clock.advance(by: .seconds(20))
                token = try await client.refresh(token, key: "key-\(number)").data(Pair.self).refreshToken
            }
            let records = try await records(backend)
            #expect(records.map(\.generation) == Array(46...50))
        }
    }

    @Test func thePredecessorIsKeptHoweverLongAgoItWasSpent() async throws {
        try await DevBackend.withServer(configuration) { backend in
            let client = TestClient(backend)
            let first = try await client.signIn().refreshToken
            let pair = try await client.refresh(first, key: "k1").data(Pair.self)
            clock.advance(by: .seconds(1000))
            #expect(try await client.refresh(first, key: "k1").data(Pair.self) == pair)
        }
    }

    @Test func aKeyOfOneClientIsNotThatOfAnother() {
        let secret = SymmetricKey(size: .bits256)
        let keys = [("a", "k"), (nil, "k"), (nil, "1:ak"), ("", "1:ak"), ("", "k"), ("1:a", "k"), ("a", "K")]
        let digests = keys.map { client, value in RefreshKey(client: client, value: value).digest(under: secret) }
        #expect(Set(digests).count == keys.count)
    }
}
