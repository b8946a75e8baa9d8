import AuthInterface
import AuthTesting
import Foundation
import Storage
import Testing

@Suite("Every store keeps the contract")
struct StoreContractTests {
    @Test func `the memory store is a token store`() async throws {
        try await TokenStoreContract.check { MemoryTokenStore() }
    }

    @Test func `the memory store can be shared`() async throws {
        try await SharedTokenStoreContract.check { MemoryTokenStore() }
    }

    @Test func `the file store is a token store`() async throws {
        let folder = try TemporaryFolder()
        try await TokenStoreContract.check(
            reopen: { FileTokenStore(folder: $0.file.deletingLastPathComponent()) },
            unavailable: { store in
                let place = store.file.deletingLastPathComponent()
                try FileManager.default.removeItem(at: place)
                try Data("no folder".utf8).write(to: place)
                return store
            },
            makeEmptyStore: { FileTokenStore(folder: folder.fresh()) }
        )
    }

    @Test func `the file store can be shared`() async throws {
        let folder = try TemporaryFolder()
        try await SharedTokenStoreContract.check(
            reopen: { FileTokenStore(folder: $0.file.deletingLastPathComponent()) },
            makeEmptyStore: { FileTokenStore(folder: folder.fresh()) }
        )
    }
}
