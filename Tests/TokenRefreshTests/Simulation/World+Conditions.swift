import Foundation

@testable import TokenRefresh

/// Clocks, and the condition of stores and servers.
extension World {
    /// A faulty store or server, so that a law must be broken: it tests the simulator itself.
    enum Fault: Sendable {
        /// Every process gets the lease, also while another one holds it.
        case leaseIsNotExclusive
        /// A write to the store replaces any content.
        case writesAreBlind
        /// The server forgets the idempotency key of an exchange.
        case keysAreForgotten
    }

    // MARK: Clocks

    /// Time passes, at most to the next timer and its lateness.
    mutating func pass(_ milliseconds: Int) -> Bool {
        let limit = nextTimer.map { $0 + Self.lateness } ?? .max
        let then = min(now + milliseconds, limit)
        guard then > now else { return false }
        moveTime(to: then)
        return true
    }

    mutating func passLong(_ draws: inout RandomDraws) -> Bool {
        guard let next = nextTimer else { return pass(draws.of([1_000, 30_000, 300_000, 3_600_000])) }
        guard next > now else { return false }
        moveTime(to: next)
        return true
    }

    mutating func setClock(_ draws: inout RandomDraws) -> Bool {
        wallOffset += TimeInterval(draws.of([-30, -2, 2, 30])) * 86_400
        setInstant()
        if isTraced { note("the wall clock is set to \(instant.date)") }
        return true
    }

    mutating func noteDate(_ process: Int) -> Bool {
        processes[process].notes.knowsServerDate = true
        send(process, .serverDateNoted(serverDate))
        return true
    }

    // MARK: Stores and servers

    mutating func changeStoreCondition(_ draws: inout RandomDraws) -> Bool {
        guard store.condition != .works || draws.chance(plan.rates.storeFaults) else { return false }
        store.condition =
            store.condition == .works ? draws.of([.failsToRead, .failsToWrite, .fails, .hangs, .isCorrupt]) : .works
        if isTraced { note("the store \(store.condition)") }
        return true
    }

    mutating func changeServerCondition(_ draws: inout RandomDraws) -> Bool {
        if isServerDown || refusesEverything {
            isServerDown = false
            refusesEverything = false
            if isTraced { note("the servers are well again") }
            return true
        }
        guard draws.chance(plan.rates.serverFaults) else { return false }
        switch draws.pick(10) {
        case ..<3: isServerDown = true
        case ..<5: refusesEverything = true
        case ..<9 where now > server.expiredBefore:
            server.expiredBefore = now
            if isTraced { note("all access tokens are expired by order") }
        case 9 where !server.families.isEmpty && draws.chance(30):
            server.revokeOne(draws.pick(server.families.count))
            if isTraced { note("an administrator ends a session") }
        default: return false
        }
        if isTraced { note("the servers: down \(isServerDown), 401 to everything \(refusesEverything)") }
        return true
    }
}
