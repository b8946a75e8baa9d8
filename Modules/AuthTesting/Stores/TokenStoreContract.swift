public import AuthInterface
import ContractTesting

/// The rules that every `TokenStore` must keep, as a suite to run against yours.
///
/// ```swift
/// @Test func `my store keeps the contract`() async throws {
///     try await TokenStoreContract.check(
///         reopen: { PartnerTokenStore(at: $0.file) },
///         makeEmptyStore: { PartnerTokenStore(at: .fresh()) }
///     )
/// }
/// ```
public enum TokenStoreContract {
    /// The default time limit of a rule: 5 minutes. Only a store that hangs takes longer, on a busy machine too.
    public static let timeLimit: Duration = .seconds(300)

    /// The rules, as sentences, in the order in which they run.
    public static var rules: [String] { TokenStoreRules.all.map(\.name) }

    /// Runs every rule, each with a new store over new storage. `reopen` makes a second store over the same storage, as
    /// another launch or process does. `unavailable` makes the storage fail, so that load, save and delete must throw,
    /// and returns the store to use. Rules that need a missing argument are left out. A rule that takes longer than the
    /// limit is broken.
    ///
    /// - Throws: `ContractViolation` with every broken rule; the errors of `makeEmptyStore`.
    public static func check<Store: TokenStore>(
        reopen: (@Sendable (Store) async throws -> Store)? = nil,
        unavailable: (@Sendable (Store) async throws -> Store)? = nil, timeLimit: Duration = timeLimit,
        makeEmptyStore: () async throws -> Store
    ) async throws {
        try await ContractViolation.check("TokenStoreContract", rules: TokenStoreRules.all, timeLimit: timeLimit) {
            let store = try await makeEmptyStore()
            var subject = StoreUnderTest(store: store)
            if let reopen { subject.reopen = { try await reopen(store) } }
            if let unavailable { subject.makeUnavailable = { try await unavailable(store) } }
            return (subject, type(of: store))
        }
    }
}

/// A store, and the arguments of the check for it.
struct StoreUnderTest: Sendable {
    let store: any TokenStore
    var reopen: (@Sendable () async throws -> any TokenStore)?
    var makeUnavailable: (@Sendable () async throws -> any TokenStore)?
}
