import AuthInterface
import Foundation
import TestSupport
import Testing

@testable import Storage

@Suite("Accounts in one folder") struct AccountNameTests {
    @Test func `each account has its own tokens and lease, also one whose name is too long for a file`() async throws {
        let temporary = TemporaryFolder()
        let folder = temporary.fresh()
        let long = String(repeating: "a", count: 196)
        let tooLong = [long, long + "a", long + "b", String(repeating: "\u{e9}", count: 5_000)]
        let accounts = ["default", "", "Ada", "ada", "../ada", "ada/lovelace", ".", "ada.json", "e\u{301}", "\u{e9}"]
        let stores = (accounts + tooLong).map { FileTokenStore(folder: folder, account: $0) }
        var leases: [any TokenStoreLease] = []
        for (number, store) in stores.enumerated() {
            try await store.save(.numbered(number))
            leases.append(try await store.lease(waitingAtMost: .zero))
        }
        for lease in leases { await lease.release() }
        #expect(try folder.names.count { $0.hasPrefix("%-") && $0.hasSuffix(".json") } == tooLong.count)
        for (number, store) in stores.enumerated() {
            #expect(try await store.load() == .numbered(number))
            try await store.delete()
            #expect(try await store.load() == nil)
        }
        #expect(try temporary.url.names == [folder.lastPathComponent])
        let longest = String(long.dropLast())
        #expect(AccountName.fileName(for: longest) == longest + ".json")
    }

    @Test(arguments: [
        ("default", "default.json"), ("ada_lovelace-2", "ada_lovelace-2.json"), ("", "%.json"),
        ("Ada", "%41da.json"), ("a@b.c", "a%40b%2ec.json"), ("\n", "%0a.json"), ("\u{e9}", "%c3%a9.json"),
    ])
    func `a file is named after its account`(account: String, name: String) {
        #expect(AccountName.fileName(for: account) == name)
    }

    @Test func `no two accounts share a file, even on a file system that ignores case`() {
        let alphabet: [Character] = ["a", "A", "%", ".", "/", "4", "1", "\u{e9}", "\0", "-"]
        var accounts: [String] = [""]
        for _ in 1...3 { accounts += accounts.flatMap { account in alphabet.map { account + [$0] } } }
        let distinct = Set(accounts)
        #expect(distinct.count == 1_111)
        #expect(Set(distinct.map { AccountName.fileName(for: $0).lowercased() }).count == distinct.count)
    }
}
