public import AuthInterface

/// The rules every ``SharedTokenStore`` must keep besides those of ``TokenStoreContract``, as a suite to run.
///
/// ```swift
/// @Test func honoursTheContract() async throws {
///     try await SharedTokenStoreContract.check(
///         reopen: { PartnerTokenStore(at: $0.place) },
///         makeEmptyStore: { PartnerTokenStore(at: .fresh()) }
///     )
/// }
/// ```
/// The suite waits for leases in real time, a twentieth of a second at most where a store keeps the contract. What
/// happens when a holder dies it cannot try: kill a process of yours.
public enum SharedTokenStoreContract {
    /// The rules, as sentences, in the order in which they run.
    public static var rules: [String] { SharedTokenStoreRules.all.map(\.name) }

    /// Runs every rule against a fresh store each.
    ///
    /// - Parameters:
    ///   - reopen: Makes a second store over the same place, as another process would. Without it, both sides of a
    ///     rule use the same store.
    ///   - patience: How long one rule may take. A rule that takes longer is broken.
    ///   - makeEmptyStore: Makes a store with nothing in it, whose place no other call has returned.
    /// - Throws: ``ContractViolation`` with every broken rule; what `makeEmptyStore` throws.
    public static func check<Store: SharedTokenStore>(
        reopen: (@Sendable (Store) async throws -> Store)? = nil,
        patience: Duration = .seconds(30),
        makeEmptyStore: () async throws -> Store
    ) async throws {
        try await ContractViolation.check(
            "SharedTokenStoreContract",
            rules: SharedTokenStoreRules.all,
            patience: patience
        ) {
            let store = try await makeEmptyStore()
            let other = try await reopen?(store) ?? store
            return (SharedStoreUnderTest(mine: store, theirs: other), type(of: store))
        }
    }
}

/// Two views of one place.
struct SharedStoreUnderTest: Sendable {
    let mine: any SharedTokenStore
    let theirs: any SharedTokenStore
}
