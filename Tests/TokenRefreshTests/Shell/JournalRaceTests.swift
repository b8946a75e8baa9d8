import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import Storage
import TestSupport
import Testing

@testable import TokenRefresh

/// G30 and S23, with files on a disk and with doubles.
@Suite(.timeLimit(.minutes(10))) struct JournalRaceTests {
    private let temporary = TemporaryFolder()
    private let server = RotatingTokenServer(lifetime: .seconds(86_400))

    /// A program over the files of one user. Each start is another process. Its time stands still, so that the limits
    /// of the journal and the store do not pass on a busy machine.
    private func start(
        tokens: URL, journal: URL, _ revocation: RecordingRevocation = .init(),
        prepare: (FaultyTokenStore<FileTokenStore>) -> Void = { _ in }
    ) -> TokenRefreshCoordinator {
        let store = FaultyTokenStore(FileTokenStore(folder: tokens))
        prepare(store)
        return TokenRefreshCoordinator(
            store: store, handler: ScriptedRefreshHandler(server: server),
            journal: FileSessionJournal(folder: journal, storeName: "files"), revocation: revocation,
            clock: ManualTimeSource())
    }

    @Test func `S23: a sign-out that the store does not take is completed by the next start, and revoked`() async throws
    {
        let (tokens, journal) = (temporary.fresh(), temporary.fresh())
        let session = start(tokens: tokens, journal: journal) { $0.fail(.delete) }
        try await session.signIn(server.signIn("ada"))
        try await session.signOut()
        #expect(session.status.isSignOutPending && !session.status.isStored)
        // The process is killed here: its store never takes the sign-out.

        let revocation = RecordingRevocation()
        let next = start(tokens: tokens, journal: journal, revocation)
        #expect(try await next.restore() == .signedOut(.byUser))
        await next.settle()
        #expect(revocation.revoked.count == 1)
        guard case .tombstone(let end) = try await FileTokenStore(folder: tokens).read() else {
            Issue.record("the tokens are still stored")
            return
        }
        #expect(end.reason == .byUser)
        let last = start(tokens: tokens, journal: journal)
        #expect(try await last.restore() == .signedOut(.byUser))
    }

    @Test func `S23: tokens that were deleted behind the program's back are lost, and signed in when they come back`()
        async throws
    {
        let (tokens, journal) = (temporary.fresh(), temporary.fresh())
        let session = start(tokens: tokens, journal: journal)
        try await session.signIn(server.signIn("ada"))
        await session.settle()
        let file = tokens.appendingPathComponent("default.json")
        let kept = try Data(contentsOf: file)
        try FileManager.default.removeItem(at: file)

        let next = start(tokens: tokens, journal: journal)
        guard case .signedOut(.lost(let sighting?)) = try await next.restore() else {
            Issue.record("\(next.state)")
            return
        }
        #expect(sighting.store == "files" && sighting.date != nil)
        await next.settle()
        #expect(!FileManager.default.fileExists(atPath: file.path), "nothing is written")

        _ = FileManager.default.createFile(atPath: file.path, contents: kept, attributes: [.posixPermissions: 0o600])
        let last = start(tokens: tokens, journal: journal)
        #expect(try await last.restore() == session.state)
    }

    @Test func `G30: a sign-out that neither the store nor the journal takes throws`() async throws {
        let (journal, store) = (MemorySessionJournal(), FaultyTokenStore(RecordingTokenStore()))
        let session = TokenRefreshCoordinator(
            store: store, handler: ScriptedRefreshHandler(server: server), journal: journal)
        try await session.signIn(server.signIn("ada"))
        await session.settle()
        journal.fail()
        store.fail(.delete)
        let error = await #expect(throws: AuthenticationError.self) { try await session.signOut() }
        #expect(error?.code == .signOutNotStored)
        #expect(session.state == .signedOut(.byUser))
        store.recover(.delete)
        try await until { session.status.isStored }
    }

    @Test func `G37: no request and no sign-in fails or waits because of the journal`() async throws {
        let journal = MemorySessionJournal()
        let gate = journal.hold()
        let session = TokenRefreshCoordinator(
            store: RecordingTokenStore(), handler: ScriptedRefreshHandler(server: server), journal: journal)
        try await session.signIn(server.signIn("ada"))
        let token = try await session.token()
        _ = try await session.replacement(for: token)
        gate.open()
        #expect(await session.settle())
        #expect(journal.entry.seen?.session == token.session)
    }

    @Test func `G18, G30: the journal is not written when a token is used or refreshed again`() async throws {
        let journal = MemorySessionJournal()
        let session = TokenRefreshCoordinator(
            store: RecordingTokenStore(), handler: ScriptedRefreshHandler(server: server), journal: journal)
        try await session.signIn(server.signIn("ada"))
        await session.settle()
        let updates = journal.updates
        for _ in 1...3 {
            _ = try await session.token()
            try await session.refresh()
        }
        await session.settle()
        #expect(journal.updates == updates)
    }

    @Test func `EG1, G30: a sign-out before the first read survives the process`() async throws {
        let base = RecordingTokenStore()
        let journal = MemorySessionJournal()
        func start(isLocked: Bool) -> TokenRefreshCoordinator {
            let store = FaultyTokenStore(base)
            if isLocked { store.fail(.load) }
            return TokenRefreshCoordinator(
                store: store, handler: ScriptedRefreshHandler(server: server), journal: journal)
        }
        let first = start(isLocked: false)
        try await first.signIn(server.signIn("ada"))
        await first.settle()
        let second = start(isLocked: true)
        try await second.signOut()
        #expect(journal.entry.pending.count == 1)
        #expect(try await start(isLocked: false).restore() == .signedOut(.byUser))
    }

    @Test func `G5, G30: a sign-in of another process is not hit by an older sign-out of the journal`() async throws {
        let (base, journal, clock) = (RecordingTokenStore(), MemorySessionJournal(), ManualTimeSource())
        func start(prepare: (FaultyTokenStore<RecordingTokenStore>) -> Void = { _ in }) -> TokenRefreshCoordinator {
            let store = FaultyTokenStore(base)
            prepare(store)
            return TokenRefreshCoordinator(
                store: store, handler: ScriptedRefreshHandler(server: server), journal: journal, clock: clock)
        }
        let first = start { $0.fail(.delete) }
        try await first.signIn(server.signIn("ada"))
        try await first.signOut()
        let second = start()
        try await second.signIn(server.signIn("bob"))
        await second.settle()
        for (age, left) in [(0.0, 1), (3_600, 0)] {
            clock.setDate(clock.date + age)
            let next = start()
            #expect(try await next.restore() == second.state)
            #expect(await next.settle() && !next.status.isSignOutPending)
            #expect(journal.entry.pending.count == left, "for an hour, its process may be storing the session still")
        }
    }
}
