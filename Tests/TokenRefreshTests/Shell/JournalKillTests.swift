import AuthInterface
import AuthTesting
import ContractTesting
import Testing

@testable import TokenRefresh

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
