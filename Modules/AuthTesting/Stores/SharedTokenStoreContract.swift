public import AuthInterface
import ContractTesting
public import Foundation

/// The rules that every `SharedTokenStore` must keep beside those of ``TokenStoreContract``, as a suite to run.
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

    /// Runs every rule, each with a new store over new storage. `reopen` makes a second store over the same storage, as
    /// another process does; without it, both sides of a rule use one store. `corrupt` replaces the content with bytes
    /// that are not a session, and `contents` returns the stored bytes; without them, the rules about such content are
    /// left out, and the rule that an ended session leaves no token reads no bytes. A rule that takes longer than the
    /// limit is broken.
    ///
    /// - Throws: `ContractViolation` with every broken rule; the errors of `makeEmptyStore`.
    public static func check<Store: SharedTokenStore>(
        reopen: (@Sendable (Store) async throws -> Store)? = nil,
        corrupt: (@Sendable (Store) async throws -> Void)? = nil,
        contents: (@Sendable (Store) async throws -> Data)? = nil, timeLimit: Duration = TokenStoreContract.timeLimit,
        makeEmptyStore: () async throws -> Store
    ) async throws {
        try await ContractViolation.check(
            "SharedTokenStoreContract", rules: SharedTokenStoreRules.all, timeLimit: timeLimit
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

extension SessionTombstone {
    /// The tombstones that a shared store must keep, each with its reason.
    static func unusual(of session: SessionID) -> [(what: String, tombstone: SessionTombstone)] {
        var ending = SessionEnding(
            status: 400, code: "invalid_grant", requestID: "contract-request",
            date: Date(timeIntervalSince1970: 1_900_000_000.625), process: "4711-contract")
        ending.challenge = "contract-challenge"
        let sighting = SessionSighting(
            session: session, date: Date(timeIntervalSince1970: 1_899_999_600), store: "contract-store",
            ordinal: SessionOrdinal(rawValue: 1 << 53))
        let reasons: [(String, SignOutReason)] = [
            ("a sign-out", .byUser),
            ("an expiry without details", .expired()),
            ("an expiry with every detail", .expired(ending)),
            ("a loss", .lost(sighting)),
            ("an application's reason", .application("\"disabled\" \u{e9} e\u{301} \u{1f511}")),
        ]
        let date = Date(timeIntervalSince1970: 1_900_000_001.125)
        return reasons.map { what, reason in
            (what, SessionTombstone(session: session, reason: reason, date: date, upTo: SessionOrdinal(at: date)))
        }
    }
}

extension SharedTokenStore {
    func expectRead(_ content: StoredSession, _ occasion: String) async throws {
        let found = try await read()
        let fields: [String] =
            switch (found, content) {
            case (.empty, .empty): []
            case (.active(let one), .active(let two)): try fieldsThatDiffer(one, two)
            case (.tombstone(let one), .tombstone(let two)): try fieldsThatDiffer(one, two)
            default: throw RuleBroken("\(occasion), read returns \(found.kind) and not \(content.kind)")
            }
        let names = fields.joined(separator: ", ")
        try expect(fields.isEmpty, otherwise: "\(occasion), these fields are not as stored: \(names)")
    }
}

extension StoredSession {
    /// The name of the case, for messages.
    var kind: String {
        switch self {
        case .empty: "empty"
        case .active: "active"
        case .tombstone: "a tombstone"
        }
    }
}
