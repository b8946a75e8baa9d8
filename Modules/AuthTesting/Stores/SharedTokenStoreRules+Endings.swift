import AuthInterface
import ContractTesting
import Foundation

extension SharedTokenStoreRules {
    static let endings: [ContractRule<SharedStoreUnderTest>] = [
        ContractRule("G5: a tombstone is read as written, field by field, and load returns nil") { subject in
            let session = SessionID()
            for (what, tombstone) in SessionTombstone.unusual(of: session) {
                try await subject.mine.update { _ in .active(.numbered(1, session: session)) }
                try await subject.mine.update { _ in .tombstone(tombstone) }
                for (name, store) in subject.views {
                    try await store.expectRead(.tombstone(tombstone), "in \(name), after \(what)")
                    try await store.expectStored(nil, "in \(name), after \(what)")
                }
            }
        },
        ContractRule("an ended session leaves no token") { subject in
            let session = SessionID()
            for (what, bundle) in TokenBundle.unusual where bundle.refreshToken?.isEmpty == false {
                try await subject.mine.save(bundle)
                try await subject.mine.update { _ in
                    .tombstone(SessionTombstone(session: session, reason: .byUser, date: Date()))
                }
                let ended = try await subject.mine.read()
                try expectHidden(bundle.secrets, in: ended) { "the \($0) of the ended session shows a token (\(what))" }
                guard let bytes = try await subject.contents?() else { continue }
                let isThere = bundle.secrets.contains { bytes.range(of: Data($0.utf8)) != nil }
                try expect(!isThere, otherwise: "a token is still stored after the end (\(what))")
            }
        },
        ContractRule("G9: a late save of an ended session is refused, and the ending stays") { subject in
            let session = SessionID()
            let tombstone = SessionTombstone(session: session, reason: .byUser, date: Date())
            try await subject.mine.save(.numbered(1, session: session))
            try await subject.mine.update { _ in .tombstone(tombstone) }
            let late = TokenBundle.numbered(2, session: session, generation: 1)
            let error = await failure { try await subject.theirs.save(late) }
            try await subject.mine.expectRead(.tombstone(tombstone), "after a late save")
            try expect(error != nil, otherwise: "the late save threw nothing")
        },
        ContractRule("the next sign-in replaces an ended session") { subject in
            let tombstone = SessionTombstone(session: SessionID(), reason: .expired(), date: Date())
            try await subject.mine.update { _ in .tombstone(tombstone) }
            let bundle = TokenBundle.numbered(1)
            try await subject.theirs.save(bundle)
            try await subject.mine.expectRead(.active(bundle), "after the next sign-in")
            try await subject.mine.update { _ in .tombstone(tombstone) }
            try await subject.theirs.delete()
            try await subject.mine.expectRead(.empty, "after a delete")
        },
    ]

    static let reports: [ContractRule<SharedStoreUnderTest>] = [
        ContractRule("`changes` reports each write of another view after the access") { subject in
            let changes = subject.mine.changes
            var reports = changes.makeAsyncIterator()
            let session = SessionID()
            let contents: [StoredSession] = [
                .active(.numbered(1, session: session)),
                .tombstone(SessionTombstone(session: session, reason: .byUser, date: Date())), .empty,
            ]
            for content in contents {
                try await subject.theirs.update { _ in content }
                // A report may be one of an earlier write: the one of this write comes after it.
                while await reports.next() != nil, try await subject.mine.read().kind != content.kind {}
            }
        },
        ContractRule("each access to `changes` makes a new stream") { subject in
            let kept = subject.mine.changes
            var reports = kept.makeAsyncIterator()
            for number in 1...3 {
                var others = subject.mine.changes.makeAsyncIterator()
                try await subject.theirs.update { _ in .active(.numbered(number)) }
                let areEnded = (await others.next() == nil, await reports.next() == nil)
                try expect(areEnded.0 == areEnded.1, otherwise: "one of two streams ended")
            }
        },
    ]
}
