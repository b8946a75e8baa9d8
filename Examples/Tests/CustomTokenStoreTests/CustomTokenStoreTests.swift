import AuthInterface
import AuthTesting
import CustomTokenStore
import Foundation
import Storage
import Testing

@Suite(.timeLimit(.minutes(20))) struct CustomTokenStoreTests {
    private typealias Store = KeyValueTokenStore<DictionaryService>

    private let service = DictionaryService()

    private func store(of account: String = UUID().uuidString) -> Store {
        Store(service, key: account, cipher: UnencryptedTokenCipher())
    }

    @Test func `the store keeps the contract`() async throws {
        try await TokenStoreContract.check(
            reopen: { (store: Store) in store },
            unavailable: { [service] (store: Store) in
                await service.setFailing(true)
                return store
            },
            makeEmptyStore: { () -> Store in
                await service.setFailing(false)
                return store()
            })
    }

    @Test func `what another program or a later version wrote is an error, and stays`() async throws {
        for (bytes, code) in [("\u{1}no bundle", TokenStoreError.Code.corrupt), ("\u{2}{}", .unsupportedVersion)] {
            try await service.set(Data(bytes.utf8), of: "ada")
            let error = await #expect(throws: TokenStoreError.self) { try await store(of: "ada").load() }
            #expect(error?.code == code)
            #expect(await service.values["ada"] == Data(bytes.utf8))
        }
    }

    @Test func `accounts are apart`() async throws {
        try await store(of: "ada").save(.fixture("ada1"))
        #expect(try await store(of: "grace").load() == nil)
        #expect(try await store(of: "ada").load() == .fixture("ada1"))
    }
}

/// A service in memory that can fail.
private actor DictionaryService: KeyValueService {
    private(set) var values: [String: Data] = [:]
    private var isFailing = false

    func setFailing(_ isFailing: Bool) { self.isFailing = isFailing }

    func value(of key: String) throws -> Data? {
        if isFailing { throw CocoaError(.fileReadUnknown) }
        return values[key]
    }

    func set(_ value: Data, of key: String) throws {
        if isFailing { throw CocoaError(.fileWriteUnknown) }
        values[key] = value
    }

    func remove(_ key: String) throws {
        if isFailing { throw CocoaError(.fileWriteUnknown) }
        values[key] = nil
    }
}
