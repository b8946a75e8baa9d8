import AuthInterface
import Foundation
import Testing

@testable import Storage

@Suite("Builds of different versions get along", .timeLimit(.minutes(10)))
struct StoredVersionsTests: TemporaryStoreTests {
    let place = TemporaryStore()

    /// What each earlier build has written, and at last the reason of a later one. None of these texts is ever changed.
    private static let earlier: [(text: String?, session: StoredSession)] = [
        (
            #""bundle":{"accessToken":"access-1","clockSkew":0,"generation":0,"session":"session-1"}"#,
            .active(TokenBundle(accessToken: "access-1", refreshToken: nil, session: .one))
        ),
        (
            #""bundle":{"accessToken":"access-1","clockSkew":-1.5,"expiresAt":800000000.25,"generation":3,"#
                + #""pendingRefresh":{"date":790000000.5,"host":"host-1","idempotencyKey":"key-1","#
                + #""isAbandoned":true,"process":"7-1"},"receivedAt":799996400,"refreshToken":"refresh-1","#
                + #""session":"session-1"}"#,
            .active(bundle(RefreshIntent(idempotencyKey: "key-1", owner: .old, date: .intent, isAbandoned: true)))
        ),
        (
            #""bundle":{"accessToken":"access-1","clockSkew":-1.5,"expiresAt":800000000.25,"generation":3,"#
                + #""pendingRefresh":{"date":790000000.5,"failure":{"date":790000001,"isAmbiguous":false,"#
                + #""pause":[0,1000000000000000000]},"firstDate":789999999.5,"host":"host-1","idempotencyKey":"key-1","#
                + #""isAbandoned":false,"lease":"8:42","process":"7-1"},"receivedAt":799996400,"#
                + #""refreshToken":"refresh-1","session":"session-1","signedInAt":780000000.5}"#,
            .active(
                bundle(
                    RefreshIntent(
                        idempotencyKey: "key-1", owner: .old, date: .intent, firstDate: .intent - 1, lease: "8:42",
                        failure: .init(date: .intent + 0.5, pause: .seconds(1))),
                    signedInAt: Date(timeIntervalSinceReferenceDate: 780_000_000.5)))
        ),
        (
            #""bundle":{"accessToken":"access-1","clockSkew":0,"generation":3,"refreshToken":"refresh-1","#
                + #""scope":"read","session":"session-1","signedInAt":790000000.5,"#
                + #""subject":{"id":"ada","issuer":"https://issuer.example"}}"#,
            .active(
                TokenBundle(
                    accessToken: "access-1", refreshToken: "refresh-1", session: .one, generation: 3,
                    signedInAt: .intent, subject: TokenSubject(issuer: "https://issuer.example", id: "ada"),
                    scope: "read"))
        ),
        (nil, .empty), (#""ended":{"date":790000000.5,"reason":"byUser","session":"session-1"}"#, end(.byUser)),
        (
            #""ended":{"date":790000000.5,"ending":{"status":400},"reason":"expired","session":"session-1"}"#,
            end(.expired())
        ),
        (
            #""ended":{"date":790000000.5,"reason":"application","session":"session-1","text":"disabled"}"#,
            end(.application("disabled"))
        ),
        (
            #""ended":{"date":790000000.5,"moved":true,"reason":"application","session":"session-1","text":"moved"}"#,
            end(.application("moved"))
        ),
        (
            #""ended":{"date":790000000.5,"reason":"eclipse","session":"session-1","text":"dark"}"#,
            end(.application("eclipse"))
        ),
    ]

    private static func end(_ reason: SignOutReason) -> StoredSession {
        .tombstone(SessionTombstone(session: .one, reason: reason, date: .intent))
    }

    private static func bundle(_ intent: RefreshIntent, signedInAt date: Date? = nil) -> TokenBundle {
        TokenBundle(
            accessToken: "access-1", refreshToken: "refresh-1",
            expiresAt: Date(timeIntervalSinceReferenceDate: 800_000_000.25), clockSkew: -1.5, session: .one,
            generation: 3, receivedAt: Date(timeIntervalSinceReferenceDate: 799_996_400), refreshIntent: intent,
            signedInAt: date)
    }

    @Test func `G36: what each earlier build has written is read`() async throws {
        for (text, session) in Self.earlier {
            try store.file.writePrivately(.envelope(text))
            #expect(try await store.read() == session, "\(text ?? "none")")
        }
    }

    @Test func `G36: the first build of this version reads what this one writes`() throws {
        var failure = RefreshIntent.Failure(
            date: .intent, pause: .seconds(1), isAmbiguous: true, status: 401, serverCode: "AUTH_004")
        (failure.statusMeansExpired, failure.firstDate, failure.count) = (true, .intent, 2)
        let intent = RefreshIntent(
            idempotencyKey: "key-1", owner: .old, date: .intent, firstDate: .intent, longestCall: .seconds(90),
            lease: "8:42", failure: failure)
        let ordinal = SessionOrdinal(at: .intent)
        let session = StoredSession.active(Self.bundle(intent, signedInAt: .intent).with(ordinal: ordinal))
        let expected = Data.envelope(
            #""bundle":{"accessToken":"access-1","clockSkew":-1.5,"expiresAt":800000000.25,"generation":3,"#
                + #""pendingRefresh":{"date":790000000.5,"host":"host-1","idempotencyKey":"key-1","isAbandoned":false,"#
                + #""process":"7-1"},"receivedAt":799996400,"refreshToken":"refresh-1","session":"session-1","#
                + #""signedInAt":790000000.5}"#)
        #expect(try EarlierBuild.write(EarlierBuild.read(TokenEnvelope.encode(session))) == expected)

        for reason in [SignOutReason.byUser, .expired(), .application("disabled"), .never] {
            let end = SessionTombstone(session: .one, reason: reason, date: .intent, upTo: ordinal)
            let file = try EarlierBuild.read(TokenEnvelope.encode(.tombstone(end)))
            let ended = try #require(file["ended"] as? [String: Any])
            #expect(ended["session"] as? String == "session-1" && ended["date"] as? Double == 790_000_000.5)
            let name = try #require(ended["reason"] as? String)
            #expect(EarlierBuild.reasons.contains(name) && (name != "application" || ended["text"] is String))
        }
    }

    @Test func `G36: fields of a later build survive a read, and a save of other tokens drops them`() async throws {
        let later = Data.envelope(
            #""bundle":{"accessToken":"access-1","clockSkew":0,"colours":{"red":[1]},"generation":0,"#
                + #""session":"session-1"},"cloud":true"#)
        try store.file.writePrivately(later)
        #expect(try await store.load()?.accessToken == "access-1")
        try await store.update { _ in nil }
        #expect(try Data(contentsOf: store.file) == later)
        try await store.save(TokenBundle(accessToken: "access-2", refreshToken: nil, session: .one, generation: 1))
        let text = try String(contentsOf: store.file, encoding: .utf8)
        #expect(!text.contains("colours") && !text.contains("cloud"))
    }

    @Test(arguments: [Date(timeIntervalSince1970: 1_700_000_000.5), nil])
    func `G36: a build without ordinals drops a session's, the next has it again`(signedInAt: Date?) async throws {
        let ordinal = try #require(SessionOrdinal(rawValue: 1 << 53))
        let first = TokenBundle(
            accessToken: "access-1", refreshToken: "refresh-1", generation: 3, signedInAt: signedInAt, ordinal: ordinal)
        try await store.save(first)
        #expect(try await store.load() == first)

        var file = try EarlierBuild.read(Data(contentsOf: store.file))
        var bundle = try #require(file["bundle"] as? [String: Any])
        bundle.merge(["accessToken": "access-2", "refreshToken": "refresh-2", "generation": 4]) { $1 }
        file["bundle"] = bundle
        try store.file.writePrivately(EarlierBuild.write(file))
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

/// What the last build without ordinals knew of a file: it read these fields, and wrote no others. The first build with
/// version 2 of the format had no `signedInAt`, which it ignored. They are never changed.
private enum EarlierBuild {
    private static let fields: [String: Set<String>] = [
        "file": ["format", "version", "bundle", "ended"],
        "bundle": [
            "accessToken", "refreshToken", "expiresAt", "clockSkew", "session", "generation", "receivedAt",
            "pendingRefresh", "signedInAt",
        ],
        "pendingRefresh": ["idempotencyKey", "host", "process", "date", "isAbandoned"],
        "ended": ["session", "reason", "text", "date"],
    ]

    /// The reasons that it knew. With another one it could not read the file.
    static let reasons: Set<String> = ["byUser", "expired", "application", "never"]

    static func read(_ data: Data) throws -> [String: Any] {
        try #require(data == data.withChecksum)
        return known("file", try #require(JSONSerialization.jsonObject(with: data) as? [String: Any]))
    }

    static func write(_ file: [String: Any]) throws -> Data {
        let text = try JSONSerialization.data(withJSONObject: file, options: [.sortedKeys, .withoutEscapingSlashes])
        return text.dropFirst().afterChecksum
    }

    /// The values that it knew of an object.
    private static func known(_ name: String, _ values: [String: Any]) -> [String: Any] {
        var known = values.filter { fields[name]?.contains($0.key) == true }
        for (name, value) in known {
            if let object = value as? [String: Any] { known[name] = Self.known(name, object) }
        }
        return known
    }
}

extension SessionID { fileprivate static let one = SessionID(rawValue: "session-1") }

extension ProcessIdentity { fileprivate static let old = ProcessIdentity(host: "host-1", process: "7-1") }

extension Date { fileprivate static let intent = Date(timeIntervalSinceReferenceDate: 790_000_000.5) }
