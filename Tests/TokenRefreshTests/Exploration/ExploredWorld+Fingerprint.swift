import AuthInterface

@testable import TokenRefresh

/// Telling states apart.
///
/// A state is what decides what can happen next, and what the laws need of the past to judge it. Numbers that only name
/// an event or a call are no part of it.
extension ExploredWorld {
    /// The same for a world and its mirror image, in which the two processes have changed places.
    ///
    /// A state is known by 64 bits. Among ten million states the chance that two share them is below one in 100,000.
    var fingerprint: Int { min(fingerprint(swapped: false), fingerprint(swapped: true)) }

    private func fingerprint(swapped: Bool) -> Int {
        var hasher = Hasher()
        let (first, second) = (world.processes[swapped ? 1 : 0], world.processes[swapped ? 0 : 1])
        hasher.feed(world.now, bounds, first.state, second.state)
        world.store.feed(swapped: swapped, into: &hasher)
        world.server.feed(swapped: swapped, into: &hasher)
        hasher.combine(world.calls.unordered { $1.feed(swapped: swapped, into: &$0) })
        hasher.feed(world.pauses, world.journal.entry, world.journal.hasMissed, world.ended)
        return hasher.finalize()
    }
}

extension Hasher {
    /// Feeds values, one after the other.
    mutating func feed<each Value: Hashable>(_ value: repeat each Value) { repeat combine(each value) }
}

extension Sequence {
    /// The hash of what the elements feed, in any order.
    fileprivate func unordered(_ feed: (inout Hasher, Element) -> Void) -> Int {
        reduce(into: 0) { sum, element in
            var hasher = Hasher()
            feed(&hasher, element)
            sum &+= hasher.finalize()
        }
    }
}

extension DeviceProcess {
    fileprivate var state: Int {
        if let fingerprint { return fingerprint }
        var hasher = Hasher()
        feed(into: &hasher)
        let state = hasher.finalize()
        fingerprint = state
        return state
    }

    private func feed(into hasher: inout Hasher) {
        hasher.feed(incarnation, isAlive)
        guard isAlive else { return }
        hasher.feed(machine.value, isSuspended, isSuspending, timers.unordered { $0.combine($1) })
        for job in jobs { job.feed(into: &hasher) }
        hasher.feed(leases, knownLoss, released, retryAt)
        hasher.combine(
            requests.unordered { hasher, request in
                hasher.feed(request.waiter, request.kind, request.phase, request.session)
                // Equality of tokens ignores how they were handed out.
                if case .carrying(let token) = request.phase { hasher.combine(token.issuance) }
                if case .replacement(let token) = request.kind { hasher.combine(token.issuance) }
            })
        hasher.feed(notes.left, notes.signedOut, notes.endedAt, entry, mustRevoke)
    }
}

extension DeviceProcess.Job {
    fileprivate func feed(into hasher: inout Hasher) {
        hasher.feed(kind, journal, ended, found, outcome)
        switch event {
        case .read(_, let reading, let ownerMayCall)?: hasher.feed(reading.result, ownerMayCall, reading.ending)
        case .wrote(_, let outcome)?: hasher.combine(outcome)
        default: break
        }
    }
}

extension DeviceStore {
    fileprivate func feed(swapped: Bool, into hasher: inout Hasher) {
        content.feed(swapped: swapped, into: &hasher)
        hasher.feed(leaseNumber, released)
        guard let lease else { return }
        Perspective.feed(lease.owner.process, swapped: swapped, into: &hasher)
        hasher.feed(lease.attempt, lease.silentSince == nil)
    }
}

extension AuthorizationServer {
    fileprivate func feed(swapped: Bool, into hasher: inout Hasher) {
        hasher.combine(families)
        for grant in grants {
            hasher.feed(grant.family, grant.successor, grant.wasStored)
            if let key = grant.key { Perspective.feed(key, swapped: swapped, into: &hasher) }
            hasher.combine(grant.intents.unordered { Perspective.feed($1, swapped: swapped, into: &$0) })
            hasher.combine(
                grant.exchanges.unordered { hasher, exchange in
                    let process = swapped ? 1 - exchange.process : exchange.process
                    hasher.feed(process, exchange.since, exchange.isUnguarded, exchange.fate)
                })
        }
    }
}

extension Call {
    fileprivate func feed(swapped: Bool, into hasher: inout Hasher) {
        hasher.feed(token, phase)
        Perspective.feed(key, swapped: swapped, into: &hasher)
        guard !isOrphan else { return }
        hasher.feed(swapped ? 1 - process : process, attempt, base.generation, since, startBefore)
        hasher.feed(isCancelled, isUnguarded, isAbandoned)
    }
}
