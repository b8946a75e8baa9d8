import AuthInterface
import Foundation

@testable import TokenRefresh

/// Clocks, and the condition of stores and servers.
extension World {
    /// A faulty store or server, by which a law must be broken: each shows that a law can fail.
    enum Fault: Sendable {
        /// Every process gets the lease, also while another one holds it.
        case leaseIsNotExclusive
        /// A write to the store replaces any content.
        case writesAreBlind
        /// The server forgets the idempotency key of an exchange.
        case keysAreForgotten
        /// What a cache has of another user does not say whose it is.
        case subjectsAreNotSaid
        /// The journal drops what it is to note of the sessions that end, and says that it has it.
        case endingsAreNotNoted
    }

    mutating func setClock(by days: Int) {
        wallOffset += TimeInterval(days) * 86_400
        clockSetAt = now
        if isTraced { note("the wall clock is set to \(instant.date)") }
    }

    /// The store is copied, or replaced by the copy. What it held then is lost.
    mutating func backUp() {
        guard let backup = store.backup else { return store.backup = store.content }
        if isTraced { note("the store holds \(backup) again, as earlier") }
        loseContent(for: backup)
        store.backup = nil
    }

    /// The tokens are deleted behind the back of the programs, or replaced by earlier ones.
    mutating func loseContent(for earlier: StoredSession = .empty) {
        store.content = earlier
        for process in 0..<processes.count where isShared { processes[process].hasReport = true }
    }
}

/// Processes start, are killed, stop for a while, and lose their leases.
extension World {
    mutating func crash(_ process: Int) {
        processes[process].isAlive = false
        processes[process].isSuspended = false
        if store.lease?.owner == processes[process].owner {
            if plan.lease.claimTime == nil { store.lease = nil } else { store.lease?.silentSince = now }
        }
        calls.removeAll { $0.process == process && $0.phase == .made }
        for index in 0..<calls.count where calls[index].process == process { calls[index].isOrphan = true }
        server.noteCrash(of: process)
    }

    mutating func announceSuspension(of process: Int) {
        processes[process].isSuspending = true
        withdrawCalls(of: process)
        send(process, .suspensionNear)
    }

    mutating func suspend(_ process: Int) {
        processes[process].isSuspending = false
        processes[process].isSuspended = true
        processes[process].suspendedAt = now
        if store.lease?.owner == processes[process].owner, canCutLease { store.lease?.silentSince = now }
    }

    mutating func resume(_ process: Int) {
        processes[process].isSuspended = false
        // No timer could fire meanwhile.
        for index in 0..<processes[process].requests.count { processes[process].requests[index].since = now }
        if plan.showsSleep { processes[process].asleep += now - processes[process].suspendedAt }
        for index in 0..<calls.count where calls[index].process == process && !calls[index].isOrphan {
            calls[index].hasSlept = true
        }
        if store.lease?.owner == processes[process].owner { store.lease?.silentSince = nil }
    }

    /// The leases that a process has lost without knowing it for sure: a claim has expired, or claim or file is gone.
    func lostLeases(of process: Int) -> [AttemptID] {
        guard plan.lease.claimTime != nil || store.fault != .leaseIsNotExclusive else { return [] }
        let (known, jobs) = (processes[process].knownLoss, processes[process].jobs)
        return processes[process].leases.map(\.attempt).filter { id in
            id != known && !holdsLease(process, id) && !jobs.contains { $0.kind == .lease(id) }
        }
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
    func isUnaware(_ process: Int) -> Bool { !lostLeases(of: process).isEmpty }

    mutating func removeLease() {
        if plan.lease.claimTime == nil { store.leaseNumber += 1 }
        guard let lease = store.lease else { return }
        store.lease = nil
        noteExpiry(of: lease)
    }

    /// Whether the connection of the lease's owner can be cut, which the owner does not notice.
    var canCutLease: Bool { plan.lease.claimTime != nil && store.lease.map { $0.silentSince == nil } ?? false }
}

extension Duration {
    /// Whole milliseconds, rounded up: a timer never fires early.
    var milliseconds: Int {
        let parts = components
        return Int(parts.seconds) * 1_000 + Int((parts.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
