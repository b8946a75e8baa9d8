import AuthInterface
import Foundation

@testable import TokenRefresh

/// What the store does for the processes.
extension World {
    /// Reads, writes or releases the lease for a process.
    mutating func work(on index: Int, of process: Int, _ draws: inout RandomDraws) {
        switch processes[process].jobs[index].kind {
        case .release(let id):
            release(id, of: process)
            processes[process].jobs.remove(at: index)
            checkWork(process)
        case .read(let purpose): read(purpose, index, of: process, &draws)
        case .write(let version, let content): write(version, content, index, of: process, &draws)
        case .lease: break
        }
    }

    /// The store fails, or reports a failure of what it has done.
    mutating func failWork(_ index: Int, of process: Int, _ error: TokenStoreError, _ draws: inout RandomDraws) {
        var job = processes[process].jobs[index]
        let isOfJournal = job.journal == nil
        if isOfJournal { job.journal = .failure(error) }
        switch job.kind {
        case .release: break
        case .read(let purpose):
            if !isOfJournal { job.found = .failure(error) }
            job.event = reading(purpose, of: job, process, &draws)
        case .lease(let id): job.event = .lease(.failed(id, error))
        case .write where isOfJournal: journal.hasMissed = true
        case .write(let version, _):
            job.outcome = nil
            job.event = .wrote(version: version, .failed(error))
        }
        processes[process].jobs[index] = job
    }

    mutating func report(_ index: Int, to process: Int) {
        let job = processes[process].jobs.remove(at: index)
        guard let event = job.event else { return }
        checkRead(process, event, of: job)
        if case .wrote(_, .failed) = event { excuse(process) }
        send(process, event)
    }

    mutating func storeChanged(_ process: Int) {
        processes[process].hasReport = false
        send(process, .storeChanged)
    }

    func condition(for process: Int) -> DeviceStore.Condition {
        store.condition(for: processes[process].storeCondition)
    }

    /// What a read of the store shows a process.
    func content(for purpose: ReadPurpose, _ process: Int, _ draws: inout RandomDraws) -> StoreResult {
        let perspective = perspective(of: process)
        var result = store.read(in: condition(for: process)).map { perspective?.view($0) ?? $0 }
        // What a write does is decided by what the store holds then.
        if case .attempt = purpose, case .success(.active(let newest)) = result, let old = store.earlier,
            old.session == newest.session, !isDraining, draws.chance(plan.rates.staleReads)
        {
            result = .success(.active(old))
        }
        return result
    }

    /// Rules 4 and 8. What the lease of a process says of the owner of an intent.
    func mayCall(_ intent: RefreshIntent, _ process: Int) -> Bool {
        guard let lease = processes[process].leases.last else { return false }
        guard let own = lease.name else {
            guard plan.lease.claimTime != nil else { return false }
            return store.expired.contains(intent.owner) || store.lease?.owner != processes[process].owner
        }
        guard let other = intent.lease else { return true }
        return other != own && (plan.lease.claimTime == nil || !processes[process].released.contains(other))
    }

    // MARK: The lease

    /// A process needs a lease no longer. That a claim was released says that the call of its owner has ended.
    mutating func noteRelease(of id: AttemptID, by process: Int) {
        guard let index = processes[process].leases.firstIndex(where: { $0.attempt == id }) else { return }
        let name = processes[process].leases.remove(at: index).name
        if processes[process].knownLoss == id { processes[process].knownLoss = nil }
        if let name, plan.lease.claimTime != nil { store.released.insert(name) }
    }

    mutating func release(_ id: AttemptID, of process: Int) {
        guard let lease = store.lease, lease.owner == processes[process].owner, lease.attempt == id else { return }
        store.expired.remove(lease.owner)
        store.lease = nil
        noteUnguarded(process)
    }

    /// The calls of a process no longer keep other processes out.
    private mutating func noteUnguarded(_ process: Int) {
        for index in 0..<calls.count where calls[index].process == process { calls[index].isUnguarded = true }
        server.noteUnguarded(process)
    }

    var isLeaseFree: Bool { store.lease.map(isExpired) ?? true || store.fault == .leaseIsNotExclusive }

    mutating func giveLease(for index: Int, to process: Int) {
        guard case .lease(let id) = processes[process].jobs[index].kind else { return }
        if let lease = store.lease, store.fault != .leaseIsNotExclusive { noteExpiry(of: lease) }
        store.lease = .init(process: process, owner: processes[process].owner, attempt: id)
        if plan.lease.claimTime != nil { store.leaseNumber += 1 }
        let name = plan.leasesHaveNames ? "\(store.leaseNumber)" : nil
        processes[process].leases.append(.init(attempt: id, name: name))
        processes[process].released = store.released
        processes[process].jobs[index].event = .lease(.taken(id, identity: name))
    }

    mutating func noteExpiry(of lease: DeviceStore.Lease) {
        store.expired.insert(lease.owner)
        if processes[lease.process].owner == lease.owner { noteUnguarded(lease.process) }
        if isTraced { note("the lease of \(lease.owner) expires") }
    }

    // MARK: Writes

    mutating func store(_ content: StoreContent, of process: Int, _ draws: inout RandomDraws) -> WriteOutcome {
        let old = store.content
        let perspective = perspective(of: process)
        if let perspective { store.content = perspective.view(store.content) }
        let (outcome, new) = store.write(content, isShared: isShared, in: condition(for: process))
        if let perspective { store.content = perspective.unview(store.content) }
        if isTraced { note("store: p\(process + 1) writes, \(outcome); it holds \(store.content)") }
        if new != nil, let lost = old.bundle, lost.session != content.session { server[lost.session].isRetired = true }
        if case .active(let bundle)? = new {
            if isShared { checkOrder(process, bundle, over: old) }
            if case .bundle(_, over: .lower(let ends?)) = content { noteEnd(upTo: ends) }
            landed(bundle, process)
        }
        // In a store without tombstones, a late response to the rejected session may still bring tokens.
        if case .tombstone(_, _, let scope) = content, case .written = outcome, isShared || content.rejection == nil {
            if new != nil, let lost = old.bundle {
                checkDeletion(process, of: lost, by: scope)
                server[lost.session].isRetired = true
            }
            if let session = scope.session { server[session].isRetired = true }
            for family in server.families(upTo: scope.ordinal) { server.families[family].isRetired = true }
            noteEnd(upTo: scope.ordinal)
            if case .tombstone(let end) = store.content { server.noteEnding(end) }
        }
        if new != nil { reportChange(&draws) }
        // As when a connection breaks during the commit.
        let isMisreported = new != nil && !isDraining && draws.chance(plan.rates.misreports)
        return isMisreported ? .failed(.locked) : outcome
    }

    /// Store or journal report a change to the processes, as far as the report is not lost.
    mutating func reportChange(_ draws: inout RandomDraws) {
        for other in 0..<processes.count
        where isShared && processes[other].isAlive && !draws.chance(plan.rates.lostReports) {
            processes[other].hasReport = true
        }
    }

    /// A bundle has been written.
    private mutating func landed(_ bundle: TokenBundle, _ process: Int) {
        let family = server[bundle.session]
        if family.isRetired { fail(.revival, "p\(process + 1) stores \(bundle)") }
        if let failure = bundle.refreshIntent?.failure, let token = bundle.refreshToken, wallOffset == 0 {
            let start = Int((failure.date.timeIntervalSince(Self.epoch) * 1_000).rounded()) + 1_000
            // A process that holds the lease may have recorded its intent before one without it stores a failure.
            let isHeldElsewhere = store.lease.map { $0.owner != processes[process].owner } ?? false
            if !isHeldElsewhere { pauses[Int(named: token)] = start + failure.pause.milliseconds - 2 }
        } else if let token = bundle.refreshToken, bundle.refreshIntent == nil {
            // A success ends it, also one that brings no other refresh token.
            pauses[Int(named: token)] = nil
        }
        if let intent = bundle.refreshIntent, let token = bundle.refreshToken,
            store.content.bundle?.refreshIntent?.date == intent.date
        {
            server.grants[Int(named: token)].intents.insert(worldKey(intent.idempotencyKey, of: process))
        }
        server.noteStored(bundle.grant)
        let token = bundle.accessToken
        if token.fitsHeaderField { server.grants[Int(named: token)].wasStored = true }
    }
}
