import AuthInterface
import Foundation
import Testing

@testable import Storage

@Suite("The format of the file", .timeLimit(.minutes(10))) struct FileTokenStoreFormatTests: TemporaryStoreTests {
    let place = TemporaryStore()

    /// The file of `.numbered(3)`, to the byte. It must stay readable.
    private static let current = """
        {"checksum":"5b5322f1475b1c66","bundle":{"accessToken":"access-3","clockSkew":-1.5,"expiresAt":800000000.25,\
        "generation":3,"refreshToken":"refresh-3","session":"session-1"},"format":"latchkey-tokens","version":2}
        """

    @Test func `a bundle is written in the documented format, and read again`() async throws {
        try await store.save(.numbered(3))
        #expect(try String(contentsOf: store.file, encoding: .utf8) == Self.current)
        try store.file.writePrivately(Data(Self.current.utf8))
        #expect(try await store.load() == .numbered(3))
    }

    /// The contract of stores compares dates to the millisecond, and not all fields of an intent.
    @Test(arguments: [Duration.zero, .seconds(300), .nanoseconds(1), .seconds(Int64.max), .seconds(-1)])
    func `every field survives, to the bit`(pause: Duration) async throws {
        for value in [Double.infinity, -.infinity] + (1...10).map({ _ in .random(in: -1e9...3e9) }) {
            let dates = (1...6).map { _ in Date(timeIntervalSinceReferenceDate: .random(in: -1e9...3e9)) }
            var failure = RefreshIntent.Failure(
                date: dates[0], pause: pause, isAmbiguous: value < 0, status: 400, serverCode: "AUTH_004")
            (failure.firstDate, failure.count, failure.statusMeansExpired) = (dates[1], 2, true)
            let intent = RefreshIntent(
                idempotencyKey: "key-1", owner: .current, date: dates[2], firstDate: dates[3], lease: "8:42",
                failure: failure)
            try await store.expectRoundTrip(
                of: TokenBundle(
                    accessToken: "access-1", refreshToken: "refresh-1",
                    expiresAt: Date(timeIntervalSinceReferenceDate: value), clockSkew: value, receivedAt: dates[4],
                    refreshIntent: intent, signedInAt: dates[5],
                    subject: TokenSubject(issuer: "https://issuer.example", id: "user \u{e9}"), scope: "read write",
                    ordinal: SessionOrdinal(rawValue: 1 << 53)))
        }
    }

    /// What earlier versions have stored with access tokens of several audiences, in each version of the format.
    static let withAudiences = [
        #"{"accessToken":"access-3","accessGeneration":1,"audienceTokens":{"files":{"clockSkew":-2.5,"#
            + #""expiresAt":60.5,"generation":3,"receivedAt":0.5,"scope":"read","value":"files-1"}},"clockSkew":-1.5,"#
            + #""expiresAt":800000000.25,"generation":3,"refreshToken":"refresh-3","session":"session-1"},"#
            + #""format":"latchkey-tokens","version":2}"#,
        #"{"accessToken":"access-3","audienceTokens":{"mail":{"clockSkew":0,"generation":2,"value":"mail-1"}},"#
            + #""binding":{"nonces":{},"thumbprint":"thumbprint-1"},"clockSkew":-1.5,"expiresAt":800000000.25,"#
            + #""generation":3,"refreshToken":"refresh-3","session":"session-1"},"format":"latchkey-tokens","version":3}"#,
        #"{"accessToken":"access-3","clockSkew":-1.5,"expiresAt":800000000.25,"generation":3,"pendingRefresh":"#
            + #"{"audience":"files","date":0.25,"failure":{"count":1,"date":0.5,"isAmbiguous":false,"#
            + #""isOfAudience":true,"pause":[0,1000000000000000000],"status":400},"host":"host","#
            + #""idempotencyKey":"key-1","isAbandoned":false,"process":"p1"},"refreshToken":"refresh-3","#
            + #""session":"session-1"},"format":"latchkey-tokens","version":4}"#,
    ]

    @Test(arguments: withAudiences.indices)
    func `G34, G36: other audiences' tokens are ignored; older programs leave bound ones`(_ index: Int) async throws {
        let text = #"{"checksum":"0000000000000000","bundle":"# + Self.withAudiences[index]
        try store.file.writePrivately(Data(text.utf8).withChecksum)
        let bundle = try #require(try await store.load())
        #expect(bundle.with(refreshIntent: nil).hasSameTokens(as: .numbered(3)))
        #expect(bundle.binding?.thumbprint == (index == 1 ? "thumbprint-1" : nil))
        #expect(bundle.refreshIntent?.idempotencyKey == (index == 2 ? "key-1" : nil))
        #expect(bundle.refreshIntent?.failure?.status == (index == 2 ? 400 : nil))
        // It is written in the version that each program reads which can use the session.
        try await store.expectRoundTrip(of: bundle)
        let version = index == 1 ? 3 : 2
        #expect(try String(contentsOf: store.file, encoding: .utf8).hasSuffix(#""version":\#(version)}"#))
    }

    @Test(arguments: [-1, 1 << 48, .max, .min])
    func `a generation outside the range is corrupt, and a bundle with one is not saved`(generation: Int) async throws {
        let bent = Self.current.replacingOccurrences(of: "\"generation\":3", with: "\"generation\":\(generation)")
        try store.file.writePrivately(Data(bent.utf8).withChecksum)
        #expect(await storeError { _ = try await store.load() }?.code == .corrupt)
        let bundle = TokenBundle(accessToken: "access-1", refreshToken: nil, generation: generation)
        #expect(await storeError { try await store.save(bundle) }?.code == .unavailable)
        let largest = TokenBundle(accessToken: "access-1", refreshToken: nil, generation: 1 << 48 - 1)
        try await store.expectRoundTrip(of: largest)
    }

    @Test(arguments: [
        (5, #"{"format":"latchkey-tokens","version":5,"tokens":[]}"#),
        (6, #"{"checksum":"0000000000000000","format":"latchkey-tokens","tokens":[],"version":6}"#),
    ])
    func `G36: a file of a later version is only deleted, the error says how`(version: Int, text: String) async throws {
        let later = Data(text.utf8).withChecksum
        try store.file.writePrivately(later)
        for words in ["version \(version)", "update this program, or sign out to remove it"] {
            await store.expectFailures(of: [.load, .save, .update], .unsupportedVersion, words)
        }
        #expect(try Data(contentsOf: store.file) == later)
        try await store.delete()
        #expect(try await store.load() == nil)
    }

    @Test func `the checksum is CRC-64/XZ, with the check value of the catalogue`() {
        #expect(CRC64.text(of: "123456789".utf8) == "995dc9bbdf1939fa")
        #expect(CRC64.text(of: "".utf8) == "0000000000000000")
    }

    @Test func `S19: a file with any flipped bit, or cut off anywhere, is corrupt, and never none`() throws {
        let ending = SessionEnding(status: 400, code: "invalid_grant", date: Date(timeIntervalSinceReferenceDate: 8e8))
        let sessions: [StoredSession] = [
            .active(.numbered(7).with(refreshIntent: .test(under: "8:42"))), .empty,
            .tombstone(
                SessionTombstone(
                    session: SessionID(), reason: .expired(ending), date: Date(), upTo: SessionOrdinal(at: Date()))),
            .tombstone(SessionTombstone(session: SessionID(), reason: .application("disabled"), date: Date())),
            .tombstone(SessionTombstone(session: SessionID(), reason: .lost(nil), date: Date())),
        ]
        for session in sessions {
            let data = try TokenEnvelope.encode(session)
            #expect(try TokenEnvelope.decode(data) == session)
            func expectCorrupt(_ damaged: Data, _ what: String) {
                let error = #expect(throws: TokenStoreError.self) { try TokenEnvelope.decode(damaged) }
                #expect(error?.code == .corrupt, "\(what)")
            }
            for bit in 0..<data.count * 8 {
                var damaged = data
                damaged[bit / 8] ^= 1 << (bit % 8)
                expectCorrupt(damaged, "bit \(bit % 8) of byte \(bit / 8)")
            }
            for length in 0..<data.count { expectCorrupt(data.prefix(length), "\(length) bytes") }
        }
    }

    /// The same without its checksum.
    private static let unchecked = current.replacingOccurrences(of: "\"checksum\":\"5b5322f1475b1c66\",", with: "")

    private static let garbage = [
        "", "null", "[]", "{}", "\0\0\0\0", #"{"format":"other","version":1}"#, #"{"format":"latchkey-tokens"}"#,
        #"{"format":"latchkey-tokens","version":0,"bundle":{}}"#, #"{"format":"latchkey-tokens","version":1}"#,
        #"{"format":"latchkey-tokens","version":2}"#,
        #"{"format":"latchkey-tokens","version":1,"bundle":{"accessToken":"access-1"}}"#,
        current + current, current.replacingOccurrences(of: "latchkey-tokens", with: "other-tokens"),
        unchecked, unchecked.replacingOccurrences(of: #""version":2"#, with: #""version":1"#),
    ]

    @Test(arguments: garbage)
    func `invalid content is corrupt until it is replaced or deleted, and no copy is kept`(text: String) async throws {
        let content = Data(text.utf8).withChecksum
        try store.file.writePrivately(content)
        let other = FileTokenStore(folder: folder)
        for store in [store, other, store] { await store.expectFailures(of: [.load], .corrupt) }
        try await store.update { _ in nil }
        #expect(try Data(contentsOf: store.file) == content)

        try await store.save(.numbered(1))
        #expect(try await other.load() == .numbered(1))
        #expect(try folder.names == ["default.json", "default.json.lock"])
        try store.file.writePrivately(content)
        try await store.delete()
        #expect(try await store.load() == nil)
    }

    @Test func `no error quotes the file`() async throws {
        let texts = [
            "refresh-secret", "{\"refresh-secret\":1}",
            Self.current.replacingOccurrences(of: "-1.5", with: "\"refresh-secret\""),
            Self.current.replacingOccurrences(of: "access-3", with: "refresh-secret"),
            "{\"format\":\"latchkey-tokens\",\"version\":9,\"refresh-secret\":1}",
        ]
        for text in texts {
            try store.file.writePrivately(Data(text.utf8))
            let error = await #expect(throws: TokenStoreError.self) { try await store.load() }
            var dumped = ""
            dump(error, to: &dumped)
            #expect(!dumped.contains("secret") && !"\(error as Any)".contains("secret"))
        }
    }

    /// The larger file does not fit into memory: a result shows that it is not read.
    @Test(arguments: [100 << 20, 1 << 40])
    func `a file of 100 MB or 1 TB is not read: it is corrupt, and a sign-in replaces it`(size: Int) async throws {
        try store.file.writePrivately(Data("x".utf8))
        #expect(truncate(store.file.path, size) == 0)
        #expect(await storeError { _ = try await store.load() }?.code == .corrupt)
        try await store.expectRoundTrip(of: .numbered(1))
    }

    @Test func `a bundle that could not be loaded again is not saved`() async throws {
        try await store.save(.numbered(1))
        let filling = String(repeating: "a", count: TokenFile.sizeLimit)
        let huge = TokenBundle(accessToken: filling, refreshToken: nil)
        #expect(await storeError { try await store.save(huge) }?.code == .unavailable)
        #expect(try await store.load() == .numbered(1))
        let large = TokenBundle(accessToken: String(filling.dropLast(500)), refreshToken: nil)
        try await store.expectRoundTrip(of: large)
    }
}
