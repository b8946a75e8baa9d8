public import AuthInterface
public import Foundation

/// The rules that every ``SharedTokenStore`` must keep beside those of ``TokenStoreContract``, as a suite to run.
///
/// ```swift
/// @Test func `my store keeps the contract`() async throws {
///     try await SharedTokenStoreContract.check(
///         reopen: { PartnerTokenStore(at: $0.file) },
///         corrupt: { try Data("no session".utf8).write(to: $0.file) },
///         contents: { try Data(contentsOf: $0.file) },
///         makeEmptyStore: { PartnerTokenStore(at: .fresh()) }
///     )
/// }
/// ```
/// The suite waits in real time for a lease that it must not get: 50 ms each time. It cannot test that the lease of a
/// dead process becomes free: kill a process of yours for that.
public enum SharedTokenStoreContract {
    /// The rules, as sentences, in the order in which they run.
    public static var rules: [String] { SharedTokenStoreRules.all.map(\.name) }

    /// Runs every rule, each with a new store.
    ///
    /// - Parameters:
    ///   - reopen: Makes a second store over the same storage, as another process does. Without it, both sides of a
    ///     rule use one store.
    ///   - corrupt: Replaces the content with bytes that are not a session. Without it, the rules about such content
    ///     are left out.
    ///   - contents: Returns the stored bytes. Without it, the rule that an ended session leaves no token reads no
    ///     bytes.
    ///   - timeLimit: The longest time for one rule. A rule that takes longer is broken.
    ///   - makeEmptyStore: Makes an empty store over storage of its own.
    /// - Throws: ``ContractViolation`` with every broken rule; the errors of `makeEmptyStore`.
    public static func check<Store: SharedTokenStore>(
        reopen: (@Sendable (Store) async throws -> Store)? = nil,
        corrupt: (@Sendable (Store) async throws -> Void)? = nil,
        contents: (@Sendable (Store) async throws -> Data)? = nil,
        timeLimit: Duration = TokenStoreContract.timeLimit,
        makeEmptyStore: () async throws -> Store
    ) async throws {
        try await ContractViolation.check(
            "SharedTokenStoreContract",
            rules: SharedTokenStoreRules.all,
            timeLimit: timeLimit
        ) {
            let store = try await makeEmptyStore()
            var subject = SharedStoreUnderTest(mine: store, theirs: try await reopen?(store) ?? store)
            if let corrupt { subject.corrupt = { try await corrupt(store) } }
            if let contents { subject.contents = { try await contents(store) } }
            return (subject, type(of: store))
        }
    }
}

/// Two stores over the same storage, and the arguments of the check.
struct SharedStoreUnderTest: Sendable {
    let mine: any SharedTokenStore
    let theirs: any SharedTokenStore
    var corrupt: (@Sendable () async throws -> Void)?
    var contents: (@Sendable () async throws -> Data)?

    var views: [(name: String, store: any SharedTokenStore)] { [("the same view", mine), ("the other view", theirs)] }
}
