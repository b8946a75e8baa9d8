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
        let coding = Mutant.fieldwise("none") { $0 }
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
                try await store.saveProperly(bundle)
            }
            return store
        }
    }

    private static func expect(
        _ mutant: Mutant, toBreakItsRuleOf check: (Duration, () -> AlteredTokenStore) async throws -> Void
    ) async {
        let violation = await #expect(throws: ContractViolation.self) { try await check(timeLimit, mutant.make) }
        #expect(violation?.brokenRules.map(\.name).contains(mutant.rule) == true, "\(violation as Any)")
    }

    @Test(arguments: Mutant.tokenStores)
    func `each rule of a token store is broken by its mutant`(mutant: Mutant) async {
        await Self.expect(mutant, toBreakItsRuleOf: Self.checkTokenStore)
    }

    @Test(arguments: Mutant.sharedTokenStores)
    func `each rule of a shared token store is broken by its mutant`(mutant: Mutant) async {
        await Self.expect(mutant, toBreakItsRuleOf: Self.checkSharedTokenStore)
    }

    @Test func `every rule has a mutant, and a name of its own`() {
        #expect(Set(Mutant.tokenStores.map(\.rule)) == Set(TokenStoreContract.rules))
        #expect(Set(Mutant.sharedTokenStores.map(\.rule)) == Set(SharedTokenStoreContract.rules))
        let names = TokenStoreContract.rules + SharedTokenStoreContract.rules
        #expect(Set(names).count == names.count)
    }

    @Test func `a violation names the contract, the store, and every broken rule with the observation`() async throws {
        let violation = await #expect(throws: ContractViolation.self) {
            try await Self.checkTokenStore(timeLimit: TokenStoreContract.timeLimit) {
                var store = AlteredTokenStore()
                store.onDelete = { _ in }
                store.onLoad = { store in try? await store.loadProperly() }
                return store
            }
        }
        #expect(violation?.contract == "TokenStoreContract" && violation?.subject == "AlteredTokenStore")
        let rules = violation?.brokenRules.map(\.name) ?? []
        #expect(rules.contains("a deleted bundle is gone"))
        #expect(rules.contains("G14: an unavailable store throws; it does not return nil"))
        #expect(violation?.description.contains("load returned nil and threw nothing") == true)
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
            makeEmptyStore: make
        )
    }

    private static func checkSharedTokenStore(timeLimit: Duration, _ make: () -> AlteredTokenStore) async throws {
        try await SharedTokenStoreContract.check(
            reopen: { try await $0.onReopen($0) },
            corrupt: { $0.proper.corrupt() },
            contents: { $0.onContents($0) },
            timeLimit: timeLimit,
            makeEmptyStore: make
        )
    }
}
