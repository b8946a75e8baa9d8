import AuthInterface
import AuthTesting
import ContractTesting
import Testing

@testable import TokenRefresh

/// G9, G30: a process is killed at each point of each act. What the next one shows, and what is stored then.
@Suite(.timeLimit(.minutes(10))) struct JournalKillTests {
    enum Act { case signIn, signOut, rejection, stepUp }

    /// After what the process is killed.
    enum Point { case note, store, removal }

    typealias Row = (act: Act, point: Point, shared: String, own: String)

    /// The tokens that remain, or the reason of the end. After the removal, a store of one process does not say that a
    /// session was there. A rejection in a shared store is not noted (G13), and a step-up ends nothing.
    static let table: [Row] = [
        (.signIn, .note, "byUser", "byUser"),
        (.signIn, .store, "bob1 g0", "bob1 g0"),
        (.signIn, .removal, "bob1 g0", "bob1 g0"),
        (.signOut, .note, "byUser", "byUser"),
        (.signOut, .store, "byUser", "byUser"),
        (.signOut, .removal, "byUser", "never"),
        (.rejection, .note, "ada1 g0", "expired"),
        (.rejection, .store, "expired", "expired"),
        (.rejection, .removal, "expired", "never"),
        (.stepUp, .note, "ada1 g0", "ada1 g0"),
        (.stepUp, .store, "ada2 g0", "ada2 g0"),
        (.stepUp, .removal, "ada2 g0", "ada2 g0"),
    ]

    @Test(arguments: table, Bench.StoreKind.allCases)
    func `G30: what a killed process has noted ends, and what it has stored stays`(row: Row, kind: Bench.StoreKind)
        async throws
    {
        let (place, gate) = (JournaledPlace(), Gate())
        defer { gate.open() }
        let process = try await place.signedIn(kind)
        if row.point != .removal {
            for operation in [StoreOperation.save, .delete] {
                process.store.hold(operation, at: gate, row.point == .note ? .before : .after)
            }
        }
        let act = Task { try await perform(row.act, in: process, of: place) }
        if row.point == .removal {
            try await act.value
            #expect(await process.engine.settle() && place.journal.entry.pending == nil)
        } else {
            try await gate.arrivals(atLeast: 1)
        }

        let next = place.start(kind).engine
        let state = try await next.restore()
        #expect(await next.settle())
        let expected = kind == .shared ? row.shared : row.own
        switch state {
        case .signedIn(let session): #expect(place.stored == expected && place.base.bundle?.session == session)
        case .signedOut(.expired): #expect(place.stored == nil && expected == "expired")
        case .signedOut(let reason): #expect(place.stored == nil && "\(reason)" == expected)
        case .unknown: Issue.record("the session is not known")
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
