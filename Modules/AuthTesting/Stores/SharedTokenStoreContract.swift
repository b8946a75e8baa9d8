public import AuthInterface
public import Foundation

/// The rules every ``SharedTokenStore`` must keep besides those of ``TokenStoreContract``, as a suite to run.
///
/// ```swift
/// @Test func honoursTheContract() async throws {
///     try await SharedTokenStoreContract.check(
///         reopen: { PartnerTokenStore(at: $0.place) },
///         corrupt: { try Data("no session".utf8).write(to: $0.place) },
///         contents: { try Data(contentsOf: $0.place) },
///         makeEmptyStore: { PartnerTokenStore(at: .fresh()) }
///     )
/// }
/// ```
/// The suite waits in real time for a lease that it must not get: a twentieth of a second each time. It cannot try what
/// happens when the holder of a lease dies: kill a process of yours.
public enum SharedTokenStoreContract {
    /// The rules, as sentences, in the order in which they run.
    public static var rules: [String] { SharedTokenStoreRules.all.map(\.name) }

    /// Runs every rule against a fresh store each.
    ///
    /// - Parameters:
    ///   - reopen: Makes a second store over the same place, as another process would. Without it, both sides of a
    ///     rule use the same store.
    ///   - corrupt: Replaces what the store holds by something that is no session. Without it, the rules about such
    ///     contents are left out.
    ///   - contents: Returns what is stored, as bytes. Without it, the rule that an ended session leaves no token
    ///     behind looks at no bytes.
    ///   - patience: How long one rule may take. A rule that takes longer is broken.
    ///   - makeEmptyStore: Makes a store with nothing in it, whose place no other call has returned.
    /// - Throws: ``ContractViolation`` with every broken rule; what `makeEmptyStore` throws.
    public static func check<Store: SharedTokenStore>(
        reopen: (@Sendable (Store) async throws -> Store)? = nil,
        corrupt: (@Sendable (Store) async throws -> Void)? = nil,
        contents: (@Sendable (Store) async throws -> Data)? = nil,
        patience: Duration = TokenStoreContract.patience,
        makeEmptyStore: () async throws -> Store
    ) async throws {
        try await ContractViolation.check(
            "SharedTokenStoreContract",
            rules: SharedTokenStoreRules.all,
            patience: patience
        ) {
            let store = try await makeEmptyStore()
            var subject = SharedStoreUnderTest(mine: store, theirs: try await reopen?(store) ?? store)
            if let corrupt { subject.corrupt = { try await corrupt(store) } }
            if let contents { subject.contents = { try await contents(store) } }
            return (subject, type(of: store))
        }
    }
}

/// Two views of one place, and what its author can do with it.
struct SharedStoreUnderTest: Sendable {
    let mine: any SharedTokenStore
    let theirs: any SharedTokenStore
    var corrupt: (@Sendable () async throws -> Void)?
    var contents: (@Sendable () async throws -> Data)?

    var views: [(name: String, store: any SharedTokenStore)] { [("the same view", mine), ("the other view", theirs)] }
}
