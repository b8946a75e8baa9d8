#if PostgreSQL
import AuthInterface
import Foundation
import Storage
import Testing

@testable import PostgreSQLStorage

extension TokenBundle {
    /// A bundle whose tokens contain its generation.
    static func fleet(_ generation: Int, session: String = "fleet-session") -> TokenBundle {
        TokenBundle(
            accessToken: "access-ada1-\(generation)", refreshToken: "refresh-ada1-\(generation)",
            session: SessionID(rawValue: session), generation: generation)
    }
}

/// Expects that a call fails with a code, and with some words in its reason.
func expectFailure(
    _ code: TokenStoreError.Code, _ words: String = " ", sourceLocation: SourceLocation = #_sourceLocation,
    of call: () async throws -> Void
) async {
    let error = await #expect(throws: TokenStoreError.self, sourceLocation: sourceLocation) { try await call() }
    #expect(error?.code == code, sourceLocation: sourceLocation)
    let reason = error?.reason ?? "none"
    #expect(reason.contains(words), "\(reason)", sourceLocation: sourceLocation)
}

extension PostgreSQLTokenStore {
    /// The store of the same account in another process, without encryption.
    func owned(by owner: ProcessIdentity) -> PostgreSQLTokenStore {
        let seal = SessionSeal(
            account: account, cipher: UnencryptedTokenCipher(), replacesUnreadableRows: false,
            limit: session.seal.limit, clock: session.seal.clock)
        return PostgreSQLTokenStore(database: session.database, seal: seal, claimant: owner.claimText)
    }

    /// The store, once a bundle is saved in it.
    func holding(_ bundle: TokenBundle) async throws -> PostgreSQLTokenStore {
        try await save(bundle)
        return self
    }

    /// Expects that each call fails with a code, and with some words in its reason.
    func expectFailures(_ code: TokenStoreError.Code, _ words: String = " ", ofLease: Bool = false) async {
        let tombstone = SessionTombstone(session: SessionID(rawValue: "fleet-session"), reason: .byUser, date: Date())
        var calls: [() async throws -> Void] = [
            { _ = try await read() }, { _ = try await load() }, { try await save(.fleet(2)) },
            { try await save(.fleet(0, session: "a sign-in")) },
            { try await update { _ in .tombstone(tombstone) } }, { try await delete() },
        ]
        if ofLease { calls.append { _ = try await lease(waitingAtMost: .zero) } }
        for call in calls { await expectFailure(code, words, of: call) }
    }
}

extension ProcessIdentity {
    /// A process of another host.
    static let other = ProcessIdentity(host: "other-host", process: "4711-other")
}

extension RefreshIntent {
    /// An intent of another engine under a lease.
    static func fleet(under lease: any TokenStoreLease) -> RefreshIntent {
        let date = Date(timeIntervalSinceReferenceDate: 8e8)
        return RefreshIntent(idempotencyKey: "key", owner: .newEngine(), date: date, lease: lease.identity)
    }
}

extension TokenStoreLease {
    /// Expects that the lease still excludes another process, whose turn comes after a save and the release.
    func expectKept(by mine: PostgreSQLTokenStore, before theirs: PostgreSQLTokenStore) async throws {
        await expectFailure(.busy) { _ = try await theirs.lease(waitingAtMost: .zero) }
        try await mine.save(.fleet(2))
        #expect(!isLost)
        await release()
        let next = try await theirs.lease(waitingAtMost: .zero)
        #expect(!next.mayStillCall(.fleet(under: self)), "the holder has released the lease itself")
        #expect(try await theirs.load() == .fleet(2))
        await next.release()
    }
}
#endif
