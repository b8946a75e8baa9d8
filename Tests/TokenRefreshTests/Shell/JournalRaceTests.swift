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

    @Test(arguments: Bench.StoreKind.allCases)
    func `G26, G30: a journal that hangs delays a sign-out by half of the store's limit, and gets no second call`(
        kind: Bench.StoreKind
    ) async throws {
        let place = JournaledPlace()
        let process = try await place.signedIn(kind)
        let (gate, start) = (place.journal.hold(), place.clock.uptime)
        let end = Task { try await process.engine.signOut() }
        try await gate.arrivals(atLeast: 1)
        #expect(process.store.calls(.delete) == 0)
        try await place.clock.advance(by: .milliseconds(100), until: { place.stored == nil })
        #expect(place.clock.uptime - start >= .seconds(5))
        _ = await end.result
        #expect(process.engine.state == .signedOut(.byUser))

        let isSettled = Locked(false)
        let settling = Task {
            let hasEnded = await process.engine.settle()
            isSettled.withLock { $0 = hasEnded }
        }
        await settle()
        #expect(!isSettled.withLock { $0 } && gate.arrivals == 1, "it waits for the journal")
        gate.open()
        await settling.value
        #expect(isSettled.withLock { $0 })
    }

    @Test func `G26, G30: a journal that hangs hides no sign-in that the store holds, and is waited for once`()
        async throws
    {
        let place = JournaledPlace()
        let ahead = TokenBundle.stored("bob", 0, ordinal: SessionOrdinal(at: place.clock.date + 86_400))
        await place.base.save(ahead)
        let (gate, process) = (place.journal.hold(), place.start(.shared))
        let signIn = Task { try await process.engine.signIn(place.login("ada")) }
        try await place.clock.advance(by: .milliseconds(100), until: { place.stored == "ada1 g0" })
        try await signIn.value
        #expect(place.base.bundle?.ordinal == ahead.ordinal.next)
        let (reports, uptime) = (process.events.count("journalFailed"), place.clock.uptime)
        for _ in 1...3 { try await process.engine.refresh() }
        try await process.engine.signOut()
        #expect(place.clock.uptime == uptime && process.events.count("journalFailed") == reports && gate.arrivals == 1)
        gate.open()
    }

    @Test func `G37: no request and no sign-in fails because the journal hangs, and what it missed is noted later`()
        async throws
    {
        let place = JournaledPlace()
        let (gate, process) = (place.journal.hold(), place.start(.shared))
        let signIn = Task { try await process.engine.signIn(place.login("ada")) }
        try await place.clock.advance(by: .milliseconds(100), until: { process.engine.validToken != nil })
        try await signIn.value
        let token = try await process.engine.token()
        let replacing = Task { try await process.engine.replacement(for: token) }
        try await place.clock.advance(by: .milliseconds(100), until: { process.events.count("refreshed") == 1 })
        _ = try await replacing.value
        #expect(gate.arrivals == 1)
        gate.open()
        try await process.engine.refresh()
        try await until { place.journal.entry.seen?.session == token.session }
    }

    @Test(arguments: Bench.StoreKind.allCases)
    func `G30: without the journal nothing is restored, and a later read does without it, with an event`(
        kind: Bench.StoreKind
    ) async throws {
        let place = JournaledPlace()
        let session = try await place.signedIn(kind).engine.state
        place.journal.fail()
        let next = place.start(kind)
        let error = await #expect(throws: AuthenticationError.self) { try await next.engine.restore() }
        #expect(error?.code == .storeUnavailable && next.engine.state == .unknown)
        #expect((error?.cause as? TokenStoreError)?.reason.contains("journal") == true)
        #expect(next.engine.status.journalFailure != nil)
        place.journal.recover()
        #expect(try await next.engine.restore() == session)
        #expect(next.engine.status.journalFailure == nil)

        let reports = next.events.count("journalFailed")
        place.journal.fail()
        try await next.engine.refresh()
        #expect((next.events.count("journalFailed") > reports) == (kind == .shared), "a refresh reads a shared store")
    }

    @Test(arguments: Bench.StoreKind.allCases)
    func `G30: a sign-in replaces a damaged journal, and a sign-out does not`(kind: Bench.StoreKind) async throws {
        let place = JournaledPlace()
        let process = try await place.signedIn(kind)
        place.journal.damage()
        process.store.fail(.delete)
        #expect(await code { try await process.engine.signOut() } == "signOutNotStored")
        await #expect(throws: TokenStoreError.self) { try await place.journal.read() }
        try await process.engine.signIn(place.login("bob"))
        #expect(place.stored == "bob1 g0" && place.journal.entry.pending == nil)
        #expect(place.journal.entry.seen?.session == place.base.bundle?.session)
    }

    @Test func `G18, G30: the journal is not written when a token is used or refreshed again`() async throws {
        let place = JournaledPlace()
        let process = try await place.signedIn(.shared)
        // The check of its own sign-in is over.
        try await process.engine.refresh()
        #expect(await process.engine.settle())
        let updates = place.journal.updates
        for _ in 1...3 {
            _ = try await process.engine.token()
            try await process.engine.refresh()
        }
        #expect(await process.engine.settle() && place.journal.updates == updates)
    }
}
