import AuthInterface
import Foundation
import TestSupport
import Testing

@testable import Storage

@Suite("The ordinal of a stored session")
struct StoredOrdinalTests: TemporaryStoreTests {
    let place = TemporaryStore()

    @Test(arguments: [Date(timeIntervalSince1970: 1_700_000_000.5), nil])
    func `G36: a build without ordinals drops that of a session that it refreshes, and the next build has it again`(
        signedInAt: Date?
    ) async throws {
        let ordinal = try #require(SessionOrdinal(rawValue: 1 << 53))
        let first = TokenBundle(
            accessToken: "access-1", refreshToken: "refresh-1", generation: 3, signedInAt: signedInAt, ordinal: ordinal)
        try await store.save(first)
        #expect(try await store.load() == first)

        var file = try JSONDecoder().decode(BuildWithoutOrdinals.Envelope.self, from: Data(contentsOf: store.file))
        #expect(file.format == "latchkey-tokens" && file.version == 2, "that build reads it")
        file.bundle?.refresh()
        try store.file.writePrivately(file.encoded)
        let second = try #require(try await store.load())
        #expect(second.generation == 4 && second.refreshToken == "refresh-2" && second.storedOrdinal == nil)
        #expect(second.ordinal == signedInAt.map { SessionOrdinal(at: $0) } ?? .unknown, "that of its sign-in")

        let third = second.moved(to: 5).with(ordinal: ordinal)
        try await store.save(third)
        #expect(try await store.load() == third)
    }

    @Test(arguments: ["9007199254740992", "-1", "9007199254740993", "0.5"])
    func `an ordinal outside the range is corrupt, that of a session and that of an end`(ordinal: String) async throws {
        let code = Int64(ordinal) == 1 << 53 ? nil : TokenStoreError.Code.corrupt
        for content in [
            #""bundle":{"accessToken":"access-1","clockSkew":0,"generation":0,"ordinal":\#(ordinal),"session":"1"}"#,
            #""ended":{"date":0,"ordinal":\#(ordinal),"reason":"byUser","session":"1"}"#,
        ] {
            try store.file.writePrivately(.envelope(content))
            #expect(await storeError { _ = try await store.read() }?.code == code)
        }
    }
}

/// The reader and writer of the last build without ordinals, as it was. It is never changed.
private enum BuildWithoutOrdinals {
    struct Envelope: Codable {
        let format: String
        let version: Int
        var bundle: Bundle?

        /// The file as that build writes it.
        var encoded: Data {
            get throws {
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
                return try encoder.encode(self).dropFirst().afterChecksum
            }
        }
    }

    struct Bundle: Codable {
        var accessToken: String
        var refreshToken: String?
        let expiresAt: TimeInterval?
        let clockSkew: TimeInterval
        let session: String
        var generation: Int
        let receivedAt: TimeInterval?
        let signedInAt: TimeInterval?

        mutating func refresh() {
            accessToken = "access-2"
            refreshToken = "refresh-2"
            generation += 1
        }
    }
}
