import GRDB
import Testing

@testable import DevBackend

@Suite(.hangLimit) struct RefreshKeyStorageTests {
    @Test func `only digests of keys are stored`() async throws {
        try await TestClient.withServer { backend, client in
            var token = try await client.signIn().refreshToken
            for number in 1...4 {
                token = try await client.refresh(token, key: "key-\(number)").data(Received.TokenPair.self).refreshToken
            }
            let records = try await backend.database.writer.read { database in
                try Stored.RefreshToken.order(Column("generation")).fetchAll(database)
            }
            #expect(records.map { $0.keyDigest?.count } == [32, 32, 32, 32, nil])
            #expect(Set(records.compactMap(\.keyDigest)).count == 4)
        }
    }
}
