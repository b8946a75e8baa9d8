import AuthTesting
import Foundation
import Storage
import TestSupport
import Testing

@Suite("Every store keeps the contract", .timeLimit(.minutes(10))) struct StoreContractTests {
    @Test func `the memory store is a token store that the coordinators of a process can share`() async throws {
        try await TokenStoreContract.check(reopen: { $0 }, makeEmptyStore: { MemoryTokenStore() })
        try await SharedTokenStoreContract.check { MemoryTokenStore() }
    }

    @Test func `the file store is a token store`() async throws {
        let folder = TemporaryFolder()
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

    @Test func `the file store can be shared by processes`() async throws {
        let temporary = TemporaryFolder()
        try await SharedTokenStoreContract.check(
            reopen: { FileTokenStore(folder: $0.file.deletingLastPathComponent()) },
            corrupt: { try Data("no session".utf8).write(to: $0.file) },
            contents: { try Data(contentsOf: $0.file) },
            makeEmptyStore: {
                let folder = temporary.fresh()
                try folder.makePrivateFolder()
                return FileTokenStore(folder: folder)
            }
        )
    }
}
