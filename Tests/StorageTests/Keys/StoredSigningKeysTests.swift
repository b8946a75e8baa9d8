#if canImport(CryptoKit) || Crypto
import AuthInterface
import Foundation
import Testing

@testable import Storage

#if canImport(CryptoKit)
import CryptoKit
#else
import Crypto
#endif

@Suite("G34: keys of sessions in a store", .timeLimit(.minutes(10)))
struct StoredSigningKeysTests: TemporaryStoreTests {
    let place = TemporaryStore()

    private var keys: StoredSigningKeys {
        StoredSigningKeys { [folder] in FileTokenStore(folder: folder, account: $0) }
    }

    @Test func `a key signs, and another process finds it again`() async throws {
        let made = try await keys.keptKey()
        let thumbprint = made.publicKey.thumbprint
        let message = Data("what is signed".utf8)
        let found = try #require(try await keys.key(withThumbprint: thumbprint))
        #expect(found.publicKey == made.publicKey && found.algorithm == .es256)
        let members = Dictionary(uniqueKeysWithValues: made.publicKey.members.map { ($0.name, $0.value) })
        let x = try #require(members["x"].flatMap { Data(base64URL: $0) })
        let y = try #require(members["y"].flatMap { Data(base64URL: $0) })
        let publicKey = try P256.Signing.PublicKey(rawRepresentation: x + y)
        for key in [made, found] {
            let signature = try await key.sign(message)
            #expect(signature.count == 64)
            let read = try P256.Signing.ECDSASignature(rawRepresentation: signature)
            #expect(publicKey.isValidSignature(read, for: message))
            #expect(!publicKey.isValidSignature(read, for: message + [0]))
        }
        #expect(try await keys.keptKey().publicKey != made.publicKey, "each session has its own")
    }

    @Test func `KE7: a key that is not kept has touched no file`() async throws {
        let key = try await keys.makeKey()
        #expect(try await key.sign(Data("what is signed".utf8)).count == 64)
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }

    @Test func `G14: a key that does not exist is told from one that cannot be read now`() async throws {
        let (keys, thumbprint) = (keys, try await keys.keptKey().publicKey.thumbprint)
        #expect(try await keys.key(withThumbprint: "another") == nil)
        #expect(try await keys.key(withThumbprint: thumbprint) != nil)

        let away = folder.appendingPathExtension("away")
        try FileManager.default.moveItem(at: folder, to: away)
        let error = await storeError { _ = try await keys.key(withThumbprint: thumbprint) }
        #expect(error?.code == .unavailable, "its disk is not mounted")
        try FileManager.default.moveItem(at: away, to: folder)

        try await keys.deleteKey(withThumbprint: thumbprint)
        try await keys.deleteKey(withThumbprint: thumbprint)
        #expect(try await keys.key(withThumbprint: thumbprint) == nil)
    }

    @Test func `what is stored for a key and is none, or another one, is corrupt`() async throws {
        let store = MemoryTokenStore()
        let keys = StoredSigningKeys { _ in store }
        let thumbprint = try await keys.keptKey().publicKey.thumbprint
        let text = try #require(await store.load()).accessToken
        let foreign = try await StoredSigningKeys { _ in MemoryTokenStore() }.keptText()
        #expect(text.hasPrefix("p256.") && foreign.hasPrefix("p256."))
        for (content, code) in [
            ("p256.AAAA", .corrupt), ("p256", .corrupt), ("p256.+/", .corrupt), (foreign, .corrupt),
            ("p999.AAAA", .unsupportedVersion), (text, nil),
        ] as [(String, TokenStoreError.Code?)] {
            let session = SessionID(rawValue: "k")
            await store.update { _ in .active(.init(accessToken: content, refreshToken: nil, session: session)) }
            var key: (any SigningKey)?
            let error = await storeError { key = try await keys.key(withThumbprint: thumbprint) }
            #expect(error?.code == code && (key == nil) == (code != nil), "\(content)")
            #expect(error?.reason.contains(content) != true)
        }
    }

    @Test func `G17: no description shows a key`() async throws {
        let key = try await StoredSigningKeys { _ in MemoryTokenStore() }.makeKey()
        let text = try #require(key as? ES256Key).storedText
        var dumped = "\(key) \(String(reflecting: key))"
        dump(key, to: &dumped)
        #expect(!dumped.contains(text.dropFirst(5)))
    }
}

extension StoredSigningKeys {
    fileprivate func keptKey() async throws -> any SigningKey {
        let key = try await makeKey()
        try await keep(key)
        return key
    }

    fileprivate func keptText() async throws -> String { try #require(try await keptKey() as? ES256Key).storedText }
}
#endif
