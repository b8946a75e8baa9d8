public import AuthInterface

/// The rules every ``TokenStore`` must keep, as a suite to run against yours.
///
/// ```swift
/// @Test func honoursTheContract() async throws {
///     try await TokenStoreContract.check(
///         reopen: { PartnerTokenStore(at: $0.place) },
///         makeEmptyStore: { PartnerTokenStore(at: .fresh()) }
///     )
/// }
/// ```
/// The suite cannot make two things for a store it does not know: another view of the same place (`reopen`), and a
/// place that cannot be used (`unavailable`). It leaves their rules out when they are not given.
public enum TokenStoreContract {
    /// How long a rule may take by default: 5 minutes. Only a store that hangs takes longer, whatever the machine does
    /// besides.
    public static let patience: Duration = .seconds(300)

    /// The rules, as sentences, in the order in which they run.
    public static var rules: [String] { TokenStoreRules.all.map(\.name) }

    /// Runs every rule against a fresh store each.
    ///
    /// - Parameters:
    ///   - reopen: Makes a second store over the same place, as another launch or process would.
    ///   - unavailable: Makes the place impossible to use, so that load, save and delete must all fail, and returns
    ///     the store to ask.
    ///   - patience: How long one rule may take. A rule that takes longer is broken.
    ///   - makeEmptyStore: Makes a store with nothing in it, whose place no other call has returned.
    /// - Throws: ``ContractViolation`` with every broken rule; what `makeEmptyStore` throws.
    public static func check<Store: TokenStore>(
        reopen: (@Sendable (Store) async throws -> Store)? = nil,
        unavailable: (@Sendable (Store) async throws -> Store)? = nil,
        patience: Duration = patience,
        makeEmptyStore: () async throws -> Store
    ) async throws {
        try await ContractViolation.check("TokenStoreContract", rules: TokenStoreRules.all, patience: patience) {
            let store = try await makeEmptyStore()
            var subject = StoreUnderTest(store: store)
            if let reopen { subject.reopen = { try await reopen(store) } }
            if let unavailable { subject.makeUnavailable = { try await unavailable(store) } }
            return (subject, type(of: store))
        }
    }
}

/// A store, and what its author said about it.
struct StoreUnderTest: Sendable {
    let store: any TokenStore
    var reopen: (@Sendable () async throws -> any TokenStore)?
    var makeUnavailable: (@Sendable () async throws -> any TokenStore)?
}
