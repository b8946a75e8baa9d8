import AuthInterface
import AuthTesting
import Foundation
import Testing

@testable import Storage

@Suite("What is in the file")
struct FileTokenStoreFormatTests {
    private let temporary: TemporaryFolder
    private let store: FileTokenStore
    private let time = ManualTimeSource()

    /// The file of `.numbered(3)`, to the byte. It must stay readable for ever.
    private static let version1 = """
        {"bundle":{"accessToken":"access-3","clockSkew":-1.5,"expiresAt":800000000.25,"generation":3,\
        "refreshToken":"refresh-3","session":"session-1"},"format":"latchkey-tokens","version":1}
        """

    init() throws {
        temporary = try TemporaryFolder()
        store = FileTokenStore(folder: temporary.fresh(), time: time)
    }

    @Test("A bundle is written as it is documented")
    func written() async throws {
        try await store.save(.numbered(3))
        #expect(try String(contentsOf: store.file, encoding: .utf8) == Self.version1)
    }

    @Test("A file of version 1 is read")
    func read() async throws {
        try store.file.writePrivately(Data(Self.version1.utf8))
        #expect(try await store.load() == .numbered(3))
    }

    @Test("Fields that are not known are passed over")
    func unknownFields() async throws {
        let text = Self.version1.replacingOccurrences(of: "{\"accessToken", with: "{\"colour\":[1],\"accessToken")
        try store.file.writePrivately(Data(text.utf8))
        #expect(try await store.load() == .numbered(3))
    }

    @Test("Every bit of a date survives")
    func dates() async throws {
        for _ in 1...50 {
            let date = Date(timeIntervalSinceReferenceDate: .random(in: -1e9...3e9))
            let bundle = TokenBundle(accessToken: "access-1", refreshToken: nil, expiresAt: date)
            try await store.save(bundle)
            #expect(try await store.load() == bundle)
        }
    }

    @Test("A date or skew that is no finite number survives too", arguments: [Double.infinity, -.infinity])
    func infinity(value: Double) async throws {
        let date = Date(timeIntervalSinceReferenceDate: value)
        let bundle = TokenBundle(accessToken: "access-1", refreshToken: nil, expiresAt: date, clockSkew: value)
        try await store.save(bundle)
        #expect(try await store.load() == bundle)
    }

    @Test("A file of a later version is refused and not touched; to sign out removes it")
    func laterVersion() async throws {
        let later = Data("{\"format\":\"latchkey-tokens\",\"version\":2,\"tokens\":[]}".utf8)
        try store.file.writePrivately(later)
        #expect(await storeError { _ = try await store.load() }?.code == .unsupportedVersion)
        #expect(await storeError { try await store.save(.numbered(1)) }?.code == .unsupportedVersion)
        #expect(try Data(contentsOf: store.file) == later)
        try await store.delete()
        #expect(try await store.load() == nil)
    }

    @Test("A file of an earlier version is read by its own reader, and written anew as the current one")
    func earlierVersion() throws {
        let readers = [1: TokenEnvelope.readVersion1, 2: TokenEnvelope.readVersion1]
        let next = TokenEnvelope(version: 2, readers: readers)
        guard case .bundle(let bundle) = next.decode(Data(Self.version1.utf8)) else {
            Issue.record("version 1 was not read")
            return
        }
        #expect(bundle == .numbered(3))
        let text = String(decoding: try next.encode(bundle), as: UTF8.self)
        #expect(text == Self.version1.replacingOccurrences(of: "\"version\":1", with: "\"version\":2"))
        guard case .newer(2) = TokenEnvelope().decode(Data(text.utf8)) else {
            Issue.record("version 2 was not refused by a reader of version 1")
            return
        }
    }

    @Test("A file that breaks off anywhere is corrupt, and never none")
    func truncated() async throws {
        let whole = Data(Self.version1.utf8)
        for length in 0..<whole.count {
            try store.file.writePrivately(whole.prefix(length))
            #expect(await storeError { _ = try await store.load() }?.code == .corrupt, "\(length) bytes")
        }
    }

    static let garbage = [
        "null", "[]", "{}", "{\"format\":\"other\",\"version\":1}", "{\"format\":\"latchkey-tokens\"}",
        "{\"format\":\"latchkey-tokens\",\"version\":0,\"bundle\":{}}",
        "{\"format\":\"latchkey-tokens\",\"version\":1}",
        "{\"format\":\"latchkey-tokens\",\"version\":1,\"bundle\":{\"accessToken\":\"access-1\"}}",
        version1 + version1, "\u{0}\u{0}\u{0}\u{0}",
    ]

    @Test("What is no bundle is corrupt, and stays so until somebody signs in or out", arguments: garbage)
    func corrupt(text: String) async throws {
        try store.file.writePrivately(Data(text.utf8))
        let other = FileTokenStore(folder: store.file.deletingLastPathComponent())
        for store in [store, other, store] {
            #expect(await storeError { _ = try await store.load() }?.code == .corrupt)
        }
        #expect(try Data(contentsOf: store.file) == Data(text.utf8))

        try await store.save(.numbered(1))
        #expect(try await other.load() == .numbered(1))
        let aside = store.file.path + ".corrupt-20270115T080000Z"
        #expect(try Data(contentsOf: URL(fileURLWithPath: aside)) == Data(text.utf8))
        #expect(try URL(fileURLWithPath: aside).permissions == "600")
    }

    @Test("A second corrupt file of the same second does not replace the first")
    func corruptTwice() async throws {
        for text in ["one", "two", "three"] {
            try store.file.writePrivately(Data(text.utf8))
            try await store.save(.numbered(1))
        }
        let folder = store.file.deletingLastPathComponent()
        let aside = try folder.names.filter { $0.contains("corrupt") }
        #expect(aside.map { $0.suffix(3) } == ["00Z", "Z-2", "Z-3"])
        let texts = try aside.map { try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8) }
        #expect(texts == ["one", "two", "three"])
    }

    @Test("To sign out removes a corrupt file")
    func corruptDelete() async throws {
        try store.file.writePrivately(Data("garbage".utf8))
        try await store.delete()
        #expect(try await store.load() == nil)
    }

    @Test("No error quotes the file")
    func silence() async throws {
        let texts = [
            "refresh-secret", "{\"refresh-secret\":1}",
            Self.version1.replacingOccurrences(of: "-1.5", with: "\"refresh-secret\""),
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

    /// The larger file is more than memory holds and than a test would live to read: an answer shows that none of it is.
    @Test(
        "Of 100 MB of garbage nothing is read, nor of a terabyte: the answer is an error, and a sign-in sets it aside",
        arguments: [100 << 20, 1 << 40]
    )
    func hugeFile(size: Int) async throws {
        try store.file.writePrivately(Data("x".utf8))
        #expect(truncate(store.file.path, size) == 0)
        #expect(await storeError { _ = try await store.load() }?.code == .corrupt)
        try await store.save(.numbered(1))
        #expect(try await store.load() == .numbered(1))
        let aside = try store.file.deletingLastPathComponent().names.filter { $0.contains("corrupt") }
        #expect(aside.count == 1)
    }

    @Test("A bundle that no later load would read is not saved")
    func hugeBundle() async throws {
        try await store.save(.numbered(1))
        let filling = String(repeating: "a", count: TokenFile.sizeLimit)
        let huge = TokenBundle(accessToken: filling, refreshToken: nil)
        #expect(await storeError { try await store.save(huge) }?.code == .unavailable)
        #expect(try await store.load() == .numbered(1))
        let large = TokenBundle(accessToken: String(filling.dropLast(500)), refreshToken: nil)
        try await store.save(large)
        #expect(try await store.load() == large)
    }

    /// How much this process has read from files, where the system counts it.
}
