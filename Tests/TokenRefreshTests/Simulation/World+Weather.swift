import Foundation

@testable import TokenRefresh

/// Clocks, and what goes wrong with stores and servers.
extension World {
    // MARK: Clocks

    /// Time goes by, but not past an alarm by more than its lateness.
    mutating func pass(_ milliseconds: Int) -> Bool {
        let limit = nextAlarm.map { $0 + Self.lateness } ?? .max
        let then = min(now + milliseconds, limit)
        guard then > now else { return false }
        moveTime(to: then)
        return true
    }

    mutating func passLong(_ dice: inout Dice) -> Bool {
        guard let next = nextAlarm else { return pass(dice.of([1_000, 30_000, 300_000, 3_600_000])) }
        guard next > now else { return false }
        moveTime(to: next)
        return true
    }

    mutating func setClock(_ dice: inout Dice) -> Bool {
        wallOffset += TimeInterval(dice.of([-30, -2, 2, 30])) * 86_400
        setInstant()
        if isTraced { note("the wall clock is set to \(instant.date)") }
        return true
    }

    mutating func noteDate(_ process: Int) -> Bool {
        processes[process].notes.knowsServerDate = true
        tell(process, .serverDateNoted(serverDate))
        return true
    }

    // MARK: Weather

    mutating func changeStoreWeather(_ dice: inout Dice) -> Bool {
        guard store.weather != .works || dice.chance(plan.mood.storeTrouble) else { return false }
        store.weather =
            store.weather == .works ? dice.of([.failsToRead, .failsToWrite, .fails, .hangs, .isCorrupt]) : .works
        if isTraced { note("the store \(store.weather)") }
        return true
    }

    mutating func changeServerWeather(_ dice: inout Dice) -> Bool {
        if isServerDown || refusesEverything {
            isServerDown = false
            refusesEverything = false
            if isTraced { note("the servers are well again") }
            return true
        }
        guard dice.chance(plan.mood.serverTrouble) else { return false }
        switch dice.pick(10) {
        case ..<3: isServerDown = true
        case ..<5: refusesEverything = true
        case ..<9 where now > server.expiredBefore:
            server.expiredBefore = now
            if isTraced { note("all access tokens are expired by order") }
        case 9 where !server.families.isEmpty && dice.chance(30):
            server.revokeOne(dice.pick(server.families.count))
            if isTraced { note("an administrator ends a session") }
        default: return false
        }
        if isTraced { note("the servers: down \(isServerDown), 401 to everything \(refusesEverything)") }
        return true
    }
}
