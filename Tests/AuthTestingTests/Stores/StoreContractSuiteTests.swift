import AuthInterface
import AuthTesting
import ContractTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct StoreContractSuiteTests {
    /// Short, because some mutants never return. A mutant may break other rules because of it.
    private static let timeLimit: Duration = .milliseconds(400)

    @Test func `a store that keeps every rule passes both suites`() async throws {
        try await Self.checkTokenStore(timeLimit: TokenStoreContract.timeLimit) { AlteredTokenStore() }
        try await Self.checkSharedTokenStore(timeLimit: TokenStoreContract.timeLimit) { AlteredTokenStore() }
        // A store that codes its bundles once more, as the mutants of fields do.
        let coding = TokenStoreMutants.fieldwise("none") { $0 }
        try await Self.checkTokenStore(timeLimit: TokenStoreContract.timeLimit, coding.make)
    }

    @Test func `a store passes whose lease is lost, as it refuses the later save of two holders`() async throws {
        try await Self.checkSharedTokenStore(timeLimit: TokenStoreContract.timeLimit) {
            var store = AlteredTokenStore()
            store.onLease = { store, limit in
                var lease = try await store.leaseProperly(limit)
                guard store.storage.bundle?.generation == 4 else { return lease }
                await lease.release()
                lease.onIsLost = { _ in true }
                return lease
            }
            store.onSave = { store, bundle in
                if bundle.generation == 5 { for _ in 1...100 { await Task.yield() } }
                try await store.proper.save(bundle)
            }
            return store
        }
    }

    @Test(arguments: TokenStoreMutants.all)
    func `each rule of a token store is broken by its mutant`(mutant: TokenStoreMutants.Mutant) async {
        await mutant.expectViolation { try await Self.checkTokenStore(timeLimit: Self.timeLimit, $0) }
    }

    @Test(arguments: SharedTokenStoreMutants.all)
    func `each rule of a shared token store is broken by its mutant`(mutant: SharedTokenStoreMutants.Mutant) async {
        await mutant.expectViolation { try await Self.checkSharedTokenStore(timeLimit: Self.timeLimit, $0) }
    }

    @Test func `every rule has a mutant, and a name of its own`() {
        #expect(Set(TokenStoreMutants.all.map(\.rule)) == Set(TokenStoreContract.rules))
        #expect(Set(SharedTokenStoreMutants.all.map(\.rule)) == Set(SharedTokenStoreContract.rules))
        let names = TokenStoreContract.rules + SharedTokenStoreContract.rules
        #expect(Set(names).count == names.count)
    }

    @Test func `a violation names the contract, the store, and every broken rule with the observation`() async throws {
        let violation = await #expect(throws: ContractViolation.self) {
            try await Self.checkTokenStore(timeLimit: TokenStoreContract.timeLimit) {
                var store = AlteredTokenStore()
                store.onDelete = { _ in }
                store.onLoad = { store in try? await store.proper.load() }
                return store
            }
        }
        let rules = violation?.brokenRules.map(\.name) ?? []
        #expect(rules.contains("a deleted bundle is gone"))
        let text = "\(try #require(violation))"
        #expect(text.hasPrefix("AlteredTokenStore breaks \(rules.count) of the rules of TokenStoreContract:"))
        #expect(text.contains("G14: an unavailable store throws; it does not return nil: load returned nil"))
    }

    @Test func `an error of the factory is rethrown, and is not a violation`() async {
        struct NoStorage: Error {}
        await #expect(throws: NoStorage.self) {
            try await TokenStoreContract.check { () throws -> AlteredTokenStore in throw NoStorage() }
        }
    }

    private static func checkTokenStore(timeLimit: Duration, _ make: () -> AlteredTokenStore) async throws {
        try await TokenStoreContract.check(
            reopen: { try await $0.onReopen($0) },
            unavailable: { store in
                var broken = store
                broken.proper.isUnavailable = true
                return broken
            },
            timeLimit: timeLimit,
            makeEmptyStore: make)
    }

    private static func checkSharedTokenStore(timeLimit: Duration, _ make: () -> AlteredTokenStore) async throws {
        try await SharedTokenStoreContract.check(
            reopen: { try await $0.onReopen($0) }, corrupt: { $0.proper.corrupt() }, contents: { $0.onContents($0) },
            timeLimit: timeLimit, makeEmptyStore: make)
    }
}
