import AuthInterface

@testable import TokenRefresh

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
            processes[process].isSuspending = true
            send(process, .suspensionNear)
            return true
        }
        processes[process].isSuspending = false
        processes[process].isSuspended = true
        if store.lease?.owner == processes[process].owner, plan.lease.claimTime != nil, store.lease?.silentSince == nil
        {
            store.lease?.silentSince = now
        }
        if isTraced { note("p\(process + 1) is suspended") }
        return true
    }

    mutating func resume(_ process: Int) -> Bool {
        guard processes[process].isSuspended else { return false }
        processes[process].isSuspended = false
        // No timer could fire meanwhile.
        for index in 0..<processes[process].requests.count {
            processes[process].requests[index].since = now
            processes[process].requests[index].wasSuspended = true
        }
        if store.lease?.owner == processes[process].owner { store.lease?.silentSince = nil }
        if isTraced { note("p\(process + 1) goes on") }
        return true
    }

    /// The lease that a process knows to be lost: its claim has expired.
    func lostLease(of process: Int) -> AttemptID? {
        guard plan.noticesLosses, let time = plan.lease.claimTime else { return nil }
        return processes[process].leases.first { id in
            guard let lease = store.lease, lease.owner == processes[process].owner, lease.attempt == id else {
                return true
            }
            return lease.silentSince.map { now >= $0 + time } ?? false
        }
    }

    /// The connection of the lease's owner is cut, which the owner does not notice.
    mutating func cut() -> Bool {
        guard plan.lease.claimTime != nil, let lease = store.lease, lease.silentSince == nil else { return false }
        store.lease?.silentSince = now
        if isTraced { note("the connection of \(lease.owner)'s lease is cut") }
        return true
    }
}
