import AuthInterface
import ConcurrencyPrimitives
import ContractTesting
import Foundation

private typealias Found = Result<StoredSession, TokenStoreError>

extension SharedTokenStoreRules {
    static let updating: [ContractRule<SharedStoreUnderTest>] = [
        ContractRule("an update is called with the content, and stores what it returns") { subject in
            let session = SessionID()
            let contents: [StoredSession] = [
                .empty, .active(.numbered(1, session: session)),
                .tombstone(SessionTombstone(session: session, reason: .byUser, date: Date())),
                .active(.numbered(2)), .empty,
            ]
            for (number, (old, new)) in zip(contents, contents.dropFirst()).enumerated() {
                let (name, store) = subject.views[number % 2]
                guard case .success(let found) = try await seen(by: store, storing: new) else {
                    throw RuleBroken("update number \(number + 1) was called with a failure")
                }
                try expect(
                    found.kind == old.kind && found.bundle.map(\.generation) == old.bundle.map(\.generation),
                    otherwise: "an update of \(name) was called with \(found.kind) where \(old.kind) is stored")
                try await subject.mine.expectRead(new, "after update number \(number + 1)")
                try await subject.theirs.expectRead(new, "in the other view, after update number \(number + 1)")
            }
        },
        ContractRule("concurrent updates of two views lose none of each other's changes") { subject in
            let session = SessionID()
            let count = 24
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<count {
                    let store = subject.views[number % 2].store
                    group.addTask { try await store.update { advanced($0, session) } }
                }
                try await group.waitForAll()
            }
            let generation = try await subject.mine.load()?.generation ?? 0
            try expect(generation == count, otherwise: "\(count) updates left generation \(generation)")
        },
        ContractRule("an update does not wait for the lease") { subject in
            let lease = try await subject.mine.lease(waitingAtMost: ample)
            let tombstone = SessionTombstone(session: SessionID(), reason: .byUser, date: Date())
            try await subject.theirs.update { _ in .active(.numbered(1)) }
            try await subject.mine.update { _ in .tombstone(tombstone) }
            try await subject.theirs.expectRead(.tombstone(tombstone), "after an update under another's lease")
            await lease.release()
        },
        ContractRule("an update that returns nil changes nothing") { subject in
            let session = SessionID()
            let tombstone = SessionTombstone(session: session, reason: .expired(), date: Date())
            for content in [StoredSession.empty, .active(.numbered(1, session: session)), .tombstone(tombstone)] {
                try await subject.mine.update { _ in content }
                try await subject.theirs.update { _ in nil }
                try await subject.mine.expectRead(content, "after an update that returned nil")
            }
        },
    ]

    static let corruption: [ContractRule<SharedStoreUnderTest>] = [
        ContractRule("content that is not a session makes a read throw `corrupt`, until it is replaced") { subject in
            guard let corrupt = subject.corrupt else { return }
            try await subject.mine.save(.numbered(1))
            try await corrupt()
            for (name, store) in subject.views + subject.views {
                for (call, error) in [
                    ("read", await failure { _ = try await store.read() }),
                    ("load", await failure { _ = try await store.load() }),
                ] {
                    let code = (error as? TokenStoreError)?.code
                    let observed = error.map { "threw \($0)" } ?? "threw nothing"
                    try expect(code == .corrupt, otherwise: "\(call) of \(name) \(observed)")
                }
            }
        },
        ContractRule("an update is called with a failure for corrupt content, and replaces it") { subject in
            guard let corrupt = subject.corrupt else { return }
            let tombstone = SessionTombstone(session: SessionID(), reason: .byUser, date: Date())
            for content in [StoredSession.active(.numbered(2)), .tombstone(tombstone), .empty] {
                try await subject.mine.save(.numbered(1))
                try await corrupt()
                for new in [nil, content] {
                    guard case .failure(let error) = try await seen(by: subject.theirs, storing: new) else {
                        throw RuleBroken("an update was called with a success")
                    }
                    try expect(error.code == .corrupt, otherwise: "an update was called with \(error)")
                }
                try await subject.mine.expectRead(content, "after an update replaced a corrupt content")
                try await subject.mine.update { _ in .empty }
            }
        },
    ]

    /// Stores a value, and returns the argument of the change.
    private static func seen(by store: any SharedTokenStore, storing new: StoredSession?) async throws -> Found {
        let found = Locked<Found?>(nil)
        try await store.update { content in
            found.withLock { $0 = content }
            return new
        }
        guard let content = found.withLock({ $0 }) else { throw RuleBroken("an update did not call its change") }
        return content
    }

    /// The next generation of the content.
    private static func advanced(_ found: Found, _ session: SessionID) -> StoredSession? {
        guard case .success(let content) = found else { return nil }
        let next = (content.bundle?.generation ?? 0) + 1
        return .active(.numbered(next, session: session, generation: next))
    }
}
