import AuthInterface
import AuthTesting
import ConcurrencyPrimitives
import ContractTesting
import Foundation
import TestSupport
import Testing

@testable import TokenRefresh

/// G26, G30, G37: a journal that hangs, fails or is damaged.
@Suite(.timeLimit(.minutes(10))) struct JournalRaceTests {
    private let place = JournaledPlace()

    @Test(arguments: Bench.StoreKind.allCases)
    func `G26, G30: a journal that hangs delays a sign-out, and gets one call`(kind: Bench.StoreKind) async throws {
        let process = try await place.signedIn(kind)
        let (gate, start) = (place.journal.hold(), place.clock.uptime)
        let end = Task { try await process.engine.signOut() }
        try await gate.arrivals(atLeast: 1)
        #expect(process.store.calls(.delete) == 0)
        try await place.clock.advance(by: .milliseconds(100), until: { place.stored == nil })
        #expect(place.clock.uptime - start >= .seconds(5))
        _ = await end.result
        #expect(process.engine.state == .signedOut(.byUser))

        let settled = Task { await process.engine.settle(within: .seconds(7)) }
        try await place.clock.advance(toTimerIn: .seconds(7))
        #expect(await !settled.value && gate.arrivals == 1, "it waits for the journal")
        gate.open()
        #expect(await process.engine.settle())
    }

    @Test func `G26, G30: a journal that hangs hides no stored sign-in, and is waited for once`() async throws {
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

    @Test func `G37: a journal that hangs fails no caller, and what it missed is noted later`() async throws {
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

    @Test func `G26: a call of the journal begins once the one before it has ended`() async {
        let journal = OverlapJournal()
        let calls = JournalCalls(journal, within: .seconds(5), place.clock) { _ in }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { _ = await calls.read() } }
        }
        #expect(journal.most.withLock { $0 } == 1)
    }

    @Test(arguments: Bench.StoreKind.allCases)
    func `G30: without the journal nothing is restored; a later read reports it`(kind: Bench.StoreKind) async throws {
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

/// A journal that counts how many of its reads are under way at once.
private final class OverlapJournal: SessionJournal {
    let storeName = "the store"
    private let underWay = Locked(0)
    let most = Locked(0)

    func read() async throws -> SessionJournalEntry {
        let now = underWay.withLock { count in
            count += 1
            return count
        }
        most.withLock { $0 = max($0, now) }
        for _ in 0..<10 { await Task.yield() }
        underWay.withLock { $0 -= 1 }
        return SessionJournalEntry()
    }

    func update(
        _ change: @escaping @Sendable (Result<SessionJournalEntry, TokenStoreError>) -> SessionJournalEntry?
    ) async throws -> SessionJournalEntry { try await read() }
}

/// G9, G30: a process is killed at each point of each act. What the next one shows, and what is stored then.
@Suite(.timeLimit(.minutes(10))) struct JournalKillTests {
    enum Act { case signIn, signOut, rejection, stepUp }

    /// After what the process is killed.
    enum Point: CaseIterable { case note, store, removal }

    typealias Row = (act: Act, shared: [String], own: [String])

    /// The tokens that remain after each point, or the reason of the end. After the removal, a store of one process
    /// does not say that a session was there. A shared store's rejection is not noted (G13); a step-up ends nothing.
    static let table: [Row] = [
        (.signIn, shared: ["byUser", "bob1 g0", "bob1 g0"], own: ["byUser", "bob1 g0", "bob1 g0"]),
        (.signOut, shared: ["byUser", "byUser", "byUser"], own: ["byUser", "byUser", "never"]),
        (.rejection, shared: ["ada1 g0", "expired", "expired"], own: ["expired", "expired", "never"]),
        (.stepUp, shared: ["ada1 g0", "ada2 g0", "ada2 g0"], own: ["ada1 g0", "ada2 g0", "ada2 g0"]),
    ]

    @Test(arguments: table, Bench.StoreKind.allCases)
    func `G30: what was noted ends, and what was stored stays`(row: Row, kind: Bench.StoreKind) async throws {
        for (point, expected) in zip(Point.allCases, kind == .shared ? row.shared : row.own) {
            let (place, gate) = (JournaledPlace(), Gate())
            defer { gate.open() }
            let process = try await place.signedIn(kind)
            for operation in [StoreOperation.save, .delete] where point != .removal {
                process.store.hold(operation, at: gate, point == .note ? .before : .after)
            }
            let act = Task { try await perform(row.act, in: process, of: place) }
            if point == .removal {
                try await act.value
                #expect(await process.engine.settle() && place.journal.entry.pending == nil)
            } else {
                try await gate.arrivals(atLeast: 1)
            }

            let next = place.start(kind).engine
            let state = try await next.restore()
            #expect(await next.settle())
            let (session, stored) = (place.base.bundle?.session, place.stored)
            switch state {
            case .signedIn(session): #expect(stored == expected, "\(point)")
            case .signedOut(.expired): #expect(stored == nil && expected == "expired", "\(point)")
            case .signedOut(let reason): #expect(stored == nil && "\(reason)" == expected, "\(point)")
            case .signedIn, .unknown: Issue.record("\(point): \(state)")
            }
        }
    }

    private func perform(_ act: Act, in process: Bench, of place: JournaledPlace) async throws {
        switch act {
        case .signIn: try await process.engine.signIn(place.login("bob"))
        case .signOut: try await process.engine.signOut()
        case .rejection:
            process.handler.add(.failure(TokenRefreshError.rejected))
            _ = try? await process.engine.refresh()
        case .stepUp: try await process.engine.stepUp(place.login("ada"))
        }
    }
}
