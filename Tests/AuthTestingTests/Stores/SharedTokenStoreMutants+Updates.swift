import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import Foundation

extension Mutant {
    private static let calledWithContent = "an update is called with the content, and stores what it returns"
    private static let endedSession =
        "G5: a tombstone is read as written, field by field, and load returns nil"
    private static let corruptUpdate = "an update is called with a failure for corrupt content, and replaces it"

    static let updating = [
        Mutant(calledWithContent, by: "an update that reads nothing") { store in
            store.onUpdate = { store, change in
                let new = change(.success(.empty))
                try await store.proper.update { _ in new }
            }
        },
        Mutant(calledWithContent, by: "an update that writes nothing") { store in
            store.onUpdate = { store, change in
                try await store.proper.update { found in
                    _ = change(found)
                    return nil
                }
            }
        },
        Mutant(calledWithContent, by: "an update of a cached content") { store in
            store.onReopen = { old in
                var new = old
                let cached = Locked(StoredSession.empty)
                new.onUpdate = { store, change in
                    let changed = change(.success(cached.withLock { $0 }))
                    if let changed { cached.withLock { $0 = changed } }
                    try await store.proper.update { _ in changed }
                }
                return new
            }
        },
        Mutant(
            "concurrent updates of two views lose none of each other's changes",
            by: "an update in two steps"
        ) { store in
            store.onUpdate = { store, change in
                let new = change(.success(try await store.proper.read()))
                for _ in 1...5 { await Task.yield() }
                try await store.proper.update { _ in new }
            }
        },
        Mutant("an update does not wait for the lease", by: "an update under the lease") { store in
            store.onUpdate = { store, change in
                let lease = try await store.storage.lease(waitingAtMost: .seconds(3_600))
                try await store.proper.update(change)
                await lease.release()
            }
        },
        Mutant("an update that returns nil changes nothing", by: "an update that stores nil as empty") {
            $0.onUpdate = { store, change in try await store.proper.update { change($0) ?? .empty } }
        },
    ]

    static let corruption = [
        Mutant(
            "content that is not a session makes a read throw `corrupt`, until it is replaced",
            by: "a read that returns garbage as empty"
        ) { store in
            store.onRead = { store in (try? await store.proper.read()) ?? .empty }
        },
        Mutant(corruptUpdate, by: "an update that throws `corrupt`") { store in
            store.onUpdate = { store, change in
                _ = try await store.proper.read()
                try await store.proper.update(change)
            }
        },
        Mutant(corruptUpdate, by: "an update called with garbage as empty") { store in
            store.onUpdate = { store, change in
                try await store.proper.update { found in
                    if case .failure = found { change(.success(.empty)) } else { change(found) }
                }
            }
        },
    ]

    static let ending = [
        Mutant(endedSession, by: "a store that does not keep endings") { store in
            store.onUpdate = { store, change in
                try await store.proper.update { found in
                    let new = change(found)
                    if case .tombstone = new { return .empty }
                    return new
                }
            }
        },
        alteredEnding("forgets the reason") { $0.with(.byUser) },
        alteredEnding("forgets the details") { $0.reason.isExpired ? $0.with(.expired()) : $0 },
        alteredEnding("forgets the challenge") { tombstone in
            guard case .expired(var ending) = tombstone.reason else { return tombstone }
            ending.challenge = nil
            return tombstone.with(.expired(ending))
        },
        alteredEnding("forgets the date") {
            SessionTombstone(session: $0.session, reason: $0.reason, date: .distantPast, upTo: $0.ordinal)
        },
        alteredEnding("forgets the ordinal") {
            SessionTombstone(session: $0.session, reason: $0.reason, date: $0.date)
        },
        Mutant(endedSession, by: "a load that returns the old tokens") { store in
            let last = Locked<TokenBundle?>(nil)
            store.onLoad = { store in
                let bundle = try await store.loadProperly()
                return last.withLock { last in
                    last = bundle ?? last
                    return last
                }
            }
            store.onUpdate = { store, change in
                try await store.proper.update { found in
                    let new = change(found)
                    if let bundle = new?.bundle { last.withLock { $0 = bundle } }
                    return new
                }
            }
        },
        Mutant("an ended session leaves no token", by: "a file that only grows") { store in
            store.onContents = { store in
                let saved = store.storage.events.compactMap { event in
                    if case .save(let bundle) = event { bundle.accessToken } else { nil }
                }
                return Data(saved.joined().utf8)
            }
        },
        Mutant("G9: a late save of an ended session is refused, and the ending stays", by: "the last save wins") {
            $0.onSave = { store, bundle in await store.storage.save(bundle) }
        },
        Mutant("the next sign-in replaces an ended session", by: "an ending that cannot be replaced") { store in
            store.onSave = { store, bundle in
                if case .tombstone = store.storage.content { throw TokenStoreError(.superseded, reason: "ended") }
                try await store.saveProperly(bundle)
            }
        },
    ]

    static let reporting = [
        Mutant("`changes` reports each write of another view after the access", by: "a store without reports") {
            $0.onReopen = { old in
                var new = old
                new.proper.storage = RecordingTokenStore()
                new.onUpdate = { _, change in try await old.proper.update(change) }
                return new
            }
            let silent = RecordingTokenStore()
            $0.onChanges = { _ in silent.changes }
        },
        Mutant("each access to `changes` makes a new stream", by: "one stream for all") { store in
            let stream = Locked<AsyncStream<Void>?>(nil)
            store.onChanges = { store in
                stream.withLock { stream in
                    let one = stream ?? store.proper.changes
                    stream = one
                    return one
                }
            }
        },
    ]

    private static func alteredEnding(
        _ fault: String,
        _ alter: @escaping @Sendable (SessionTombstone) -> SessionTombstone
    ) -> Mutant {
        Mutant(endedSession, by: "an ending that \(fault)") { store in
            store.onRead = { store in
                let content = try await store.proper.read()
                if case .tombstone(let tombstone) = content { return .tombstone(alter(tombstone)) }
                return content
            }
        }
    }
}

extension SessionTombstone {
    fileprivate func with(_ reason: SignOutReason) -> SessionTombstone {
        SessionTombstone(session: session, reason: reason, date: date, upTo: ordinal)
    }
}
