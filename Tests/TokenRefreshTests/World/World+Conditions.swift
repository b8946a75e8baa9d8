import AuthInterface
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
        /// The intent of a refresh is not stored, although the store says so.
        case intentsAreLost
        /// The mark that a call may be under way is lost.
        case marksAreLost
        /// The failure that is stored with an intent is lost.
        case failuresAreLost
        /// A lease that was cut still says that another process is dead.
        case cutLeaseIsProof
        /// An owner that does not hold the lease is taken for dead.
        case freeLeaseIsProof
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
        clockSetAt = now
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

    mutating func changeStoreCondition(_ process: Int, _ draws: inout RandomDraws) -> Bool {
        if draws.chance(plan.rates.backups) { return backUp() }
        if draws.chance(40) { return changeOwnCondition(process, &draws) }
        guard store.condition != .works || draws.chance(plan.rates.storeFaults) else { return false }
        store.condition =
            store.condition == .works ? draws.of([.failsToRead, .failsToWrite, .fails, .hangs, .isCorrupt]) : .works
        if isTraced { note("the store \(store.condition)") }
        return true
    }

    /// One process reaches the store, and another one does not.
    private mutating func changeOwnCondition(_ process: Int, _ draws: inout RandomDraws) -> Bool {
        let works = processes[process].storeCondition == .works
        guard !works || draws.chance(plan.rates.storeFaults) else { return false }
        processes[process].storeCondition =
            works ? draws.of([.failsToRead, .failsToWrite, .fails, .hangs]) : .works
        if isTraced { note("the store \(processes[process].storeCondition) for p\(process + 1)") }
        return true
    }

    /// The store is copied, or replaced by the copy. What it held then is lost.
    private mutating func backUp() -> Bool {
        guard let backup = store.backup else {
            store.backup = store.content
            return true
        }
        if isTraced { note("the store holds \(backup.traceText) again, as earlier") }
        noteLoss(of: store.content)
        noteDamage(backup)
        (store.content, store.backup) = (backup, nil)
        for process in 0..<processes.count where isShared { processes[process].hasReport = true }
        return true
    }

    /// What the store held is lost. Each process may write the session that it is in, was in, or is about to read,
    /// again.
    mutating func noteLoss(of content: StoredSession) {
        noteDamage(content)
        for process in processes where process.isAlive {
            if let bundle = process.current?.bundle { noteDamage(.active(bundle)) }
            for job in process.jobs {
                if case .write(_, .bundle(let bundle, _)) = job.kind { noteDamage(.active(bundle)) }
                if case .read(_, .success(let read), _)? = job.event { noteDamage(read) }
            }
        }
    }

    /// What the store held of a session is not what it should hold.
    mutating func noteDamage(_ content: StoredSession) {
        switch content {
        case .active(let bundle): server[bundle.session].isDamaged = true
        case .tombstone(let end): server[end.session].isDamaged = true
        case .empty: break
        }
    }

    /// The session leaves the store, and goes on elsewhere.
    mutating func move(_ draws: inout RandomDraws) -> Bool {
        guard isShared, store.lease == nil, store.condition == .works, let bundle = store.content.bundle,
            bundle.refreshIntent == nil
        else { return false }
        let end = SessionTombstone(session: bundle.session, reason: .moved, date: instant.date)
        if isTraced { note("\(bundle.session.rawValue) is moved out of the store") }
        store.content = .tombstone(end)
        server.noteEnding(end)
        for other in 0..<processes.count where !draws.chance(plan.rates.lostReports) {
            processes[other].hasReport = true
        }
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
            server.families[draws.pick(server.families.count)].isRevoked = true
            if isTraced { note("an administrator ends a session") }
        default: return false
        }
        if isTraced { note("the servers: down \(isServerDown), 401 to everything \(refusesEverything)") }
        return true
    }
}

/// Processes start, are killed, stop for a while, and lose their leases.
extension World {
    mutating func crash(_ process: Int) -> Bool {
        guard processes[process].isAlive else { return false }
        if isTraced { note("p\(process + 1) is killed") }
        processes[process].isAlive = false
        processes[process].isSuspended = false
        if store.lease?.owner == processes[process].owner {
            if plan.lease.claimTime == nil { store.lease = nil } else { store.lease?.silentSince = now }
        }
        for index in 0..<calls.count where calls[index].process == process { calls[index].isOrphan = true }
        server.noteCrash(of: process)
        return true
    }

    mutating func restart(_ process: Int) -> Bool {
        if isTraced { note("p\(process + 1) starts again") }
        processes[process] = newProcess(process)
        return true
    }

    /// The system suspends a process, which it has said a moment before, most times.
    mutating func suspend(_ process: Int, _ draws: inout RandomDraws) -> Bool {
        guard processes[process].runs else { return false }
        if !processes[process].isSuspending, draws.chance(80) {
            announceSuspension(of: process)
            return true
        }
        putToSleep(process)
        return true
    }

    mutating func announceSuspension(of process: Int) {
        processes[process].isSuspending = true
        send(process, .suspensionNear)
    }

    mutating func putToSleep(_ process: Int) {
        processes[process].isSuspending = false
        processes[process].isSuspended = true
        processes[process].suspendedAt = now
        if store.lease?.owner == processes[process].owner, plan.lease.claimTime != nil, store.lease?.silentSince == nil
        {
            store.lease?.silentSince = now
        }
        if isTraced { note("p\(process + 1) is suspended") }
    }

    /// A sleep that no slice of a limit can hide, in milliseconds.
    private static let noticedSleep = 2_100

    mutating func resume(_ process: Int) -> Bool {
        guard processes[process].isSuspended else { return false }
        processes[process].isSuspended = false
        // No timer could fire meanwhile.
        for index in 0..<processes[process].requests.count {
            processes[process].requests[index].since = now
            processes[process].requests[index].wasSuspended = true
        }
        let isNoticed = now - processes[process].suspendedAt > Self.noticedSleep
        for index in 0..<calls.count where calls[index].process == process && !calls[index].isOrphan {
            calls[index].hasSlept = true
            guard isNoticed else { continue }
            calls[index].wakes += 1
            calls[index].wokeAt = now
        }
        if store.lease?.owner == processes[process].owner { store.lease?.silentSince = nil }
        if isTraced { note("p\(process + 1) goes on") }
        return true
    }

    /// The leases that a process has lost, and does not know for sure to be lost: their claims have expired, or have
    /// been removed, or their file has.
    func lostLeases(of process: Int) -> [AttemptID] {
        guard plan.isExplored ? store.fault != .leaseIsNotExclusive : plan.lease.claimTime != nil else { return [] }
        let known = plan.isExplored ? processes[process].knownLoss : nil
        return processes[process].leases.map(\.attempt).filter { $0 != known && !holdsLease(process, $0) }
    }

    /// Whether a process has a lease that no other process can take.
    func holdsLease(_ process: Int, _ id: AttemptID? = nil) -> Bool {
        guard let lease = store.lease, lease.owner == processes[process].owner else { return false }
        return (id == nil || lease.attempt == id) && !isExpired(lease)
    }

    func isExpired(_ lease: DeviceStore.Lease) -> Bool {
        guard let time = plan.lease.claimTime, let silentSince = lease.silentSince else { return false }
        return now >= silentSince + time
    }

    /// Whether a process may have lost its lease without any sign of it.
    func isUnaware(_ process: Int) -> Bool {
        if plan.isExplored { return !lostLeases(of: process).isEmpty }
        return isShared && !plan.noticesLosses && plan.lease.claimTime != nil
    }

    /// What shows who holds the lease is removed: the file that is locked, alone or because its folder is replaced by a
    /// copy, or the claim in the row.
    mutating func removeLease() {
        if plan.lease.claimTime == nil { store.leaseNumber += 1 }
        guard let lease = store.lease else { return }
        store.lease = nil
        noteExpiry(of: lease)
    }

    /// The connection of the lease's owner is cut, which the owner does not notice.
    mutating func cut() -> Bool {
        guard plan.lease.claimTime != nil, let lease = store.lease, lease.silentSince == nil else { return false }
        store.lease?.silentSince = now
        if isTraced { note("the connection of \(lease.owner)'s lease is cut") }
        return true
    }
}

extension Duration {
    /// Whole milliseconds, rounded up: a timer never fires early.
    var milliseconds: Int {
        let parts = components
        return Int(parts.seconds) * 1_000 + Int((parts.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
