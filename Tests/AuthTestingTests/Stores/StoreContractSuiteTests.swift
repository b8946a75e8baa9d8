import AuthInterface
import AuthTesting
import Testing

@Suite("The contract suites of stores catch the store that breaks a rule")
struct StoreContractSuiteTests {
    /// Short: some mutants never return, and it does not matter which other rules a mutant breaks.
    private static let patience: Duration = .milliseconds(400)

    @Test("A store that keeps every rule passes both suites")
    func soundStore() async throws {
        try await Self.checkTokenStore(patience: TokenStoreContract.patience) { BentTokenStore() }
        try await Self.checkSharedTokenStore(patience: TokenStoreContract.patience) { BentTokenStore() }
    }

    @Test("Each rule of a token store is broken by its mutant", arguments: Mutant.tokenStores)
    func tokenStore(mutant: Mutant) async {
        let violation = await #expect(throws: ContractViolation.self) {
            try await Self.checkTokenStore(mutant.make)
        }
        #expect(violation?.brokenRules.map(\.name).contains(mutant.rule) == true, "\(violation as Any)")
    }

    @Test("Each rule of a shared token store is broken by its mutant", arguments: Mutant.sharedTokenStores)
    func sharedTokenStore(mutant: Mutant) async {
        let violation = await #expect(throws: ContractViolation.self) {
            try await Self.checkSharedTokenStore(mutant.make)
        }
        #expect(violation?.brokenRules.map(\.name).contains(mutant.rule) == true, "\(violation as Any)")
    }

    @Test("There is a mutant for every rule, and no two rules have one name")
    func mutantForEveryRule() {
        #expect(Set(Mutant.tokenStores.map(\.rule)) == Set(TokenStoreContract.rules))
        #expect(Set(Mutant.sharedTokenStores.map(\.rule)) == Set(SharedTokenStoreContract.rules))
        let names = TokenStoreContract.rules + SharedTokenStoreContract.rules
        #expect(Set(names).count == names.count)
    }

    @Test("A violation names the contract, the store, and every broken rule with what was seen")
    func violation() async throws {
        let violation = await #expect(throws: ContractViolation.self) {
            try await Self.checkTokenStore {
                var store = BentTokenStore()
                store.onDelete = { _ in }
                store.onLoad = { store in try? await store.loadProperly() }
                return store
            }
        }
        #expect(violation?.contract == "TokenStoreContract")
        #expect(violation?.subject == "BentTokenStore")
        let rules = violation?.brokenRules.map(\.name) ?? []
        #expect(rules.contains("a deleted bundle is gone"))
        #expect(rules.contains("G14: a store that cannot answer throws; it never answers none"))
        #expect(violation?.description.contains("load answered none and threw nothing") == true)
    }

    @Test("What a suite could not make is no violation: the error comes through as it is")
    func errorOfTheFactory() async {
        struct NoPlace: Error {}
        await #expect(throws: NoPlace.self) {
            try await TokenStoreContract.check { () throws -> BentTokenStore in throw NoPlace() }
        }
    }

    private static func checkTokenStore(
        patience: Duration = patience,
        _ make: () -> BentTokenStore
    ) async throws {
        try await TokenStoreContract.check(
            reopen: { try await $0.onReopen($0) },
            unavailable: { store in
                var broken = store
                broken.proper.isUnavailable = true
                return broken
            },
            patience: patience,
            makeEmptyStore: make
        )
    }

    private static func checkSharedTokenStore(
        patience: Duration = patience,
        _ make: () -> BentTokenStore
    ) async throws {
        try await SharedTokenStoreContract.check(
            reopen: { try await $0.onReopen($0) },
            corrupt: { $0.proper.corrupt() },
            contents: { $0.onContents($0) },
            patience: patience,
            makeEmptyStore: make
        )
    }
}
