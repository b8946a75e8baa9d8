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
        hasher.combine(world.now)
        hasher.combine(bounds)
        hasher.combine(world.processes[swapped ? 1 : 0].state)
        hasher.combine(world.processes[swapped ? 0 : 1].state)
        world.store.feed(swapped: swapped, into: &hasher)
        world.server.feed(swapped: swapped, into: &hasher)
        hasher.combine(world.calls.unordered { $1.feed(swapped: swapped, into: &$0) })
        hasher.combine(world.pauses)
        hasher.combine(world.journal.entry)
        hasher.combine(world.journal.hasMissed)
        hasher.combine(world.ended)
        hasher.combine(world.vanished)
        return hasher.finalize()
    }
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
        hasher.combine(incarnation)
        hasher.combine(isAlive)
        guard isAlive else { return }
        hasher.combine(machine.value)
        hasher.combine(isSuspended)
        hasher.combine(isSuspending)
        hasher.combine(timers.unordered { $0.combine($1) })
        for job in jobs { job.feed(into: &hasher) }
        hasher.combine(leases)
        hasher.combine(knownLoss)
        hasher.combine(released)
        hasher.combine(retryAt)
        hasher.combine(
            requests.unordered { hasher, request in
                hasher.combine(request.waiter)
                hasher.combine(request.kind)
                hasher.combine(request.phase)
                hasher.combine(request.session)
                // Equality of tokens ignores how they were handed out.
                if case .carrying(let token) = request.phase { hasher.combine(token.issuance) }
                if case .replacement(let token) = request.kind { hasher.combine(token.issuance) }
            })
        hasher.combine(notes.left)
        hasher.combine(notes.signedOut)
        hasher.combine(notes.endedAt)
        hasher.combine(entry)
        hasher.combine(mustRevoke)
    }
}

extension DeviceProcess.Job {
    fileprivate func feed(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(journal)
        hasher.combine(ended)
        hasher.combine(found)
        hasher.combine(outcome)
        switch event {
        case .read(_, let result, let ownerMayCall, let ending, _)?:
            hasher.combine(result)
            hasher.combine(ownerMayCall)
            hasher.combine(ending)
        case .wrote(_, let outcome)?: hasher.combine(outcome)
        default: break
        }
    }
}

extension DeviceStore {
    fileprivate func feed(swapped: Bool, into hasher: inout Hasher) {
        content.feed(swapped: swapped, into: &hasher)
        hasher.combine(leaseNumber)
        hasher.combine(released)
        guard let lease else { return }
        Perspective.feed(lease.owner.process, swapped: swapped, into: &hasher)
        hasher.combine(lease.attempt)
        hasher.combine(lease.silentSince == nil)
    }
}

extension AuthorizationServer {
    fileprivate func feed(swapped: Bool, into hasher: inout Hasher) {
        hasher.combine(families)
        for grant in grants {
            hasher.combine(grant.family)
            hasher.combine(grant.successor)
            hasher.combine(grant.wasStored)
            if let key = grant.key { Perspective.feed(key, swapped: swapped, into: &hasher) }
            hasher.combine(grant.intents.unordered { Perspective.feed($1, swapped: swapped, into: &$0) })
            hasher.combine(
                grant.exchanges.unordered { hasher, exchange in
                    hasher.combine(swapped ? 1 - exchange.process : exchange.process)
                    hasher.combine(exchange.since)
                    hasher.combine(exchange.isUnguarded)
                    hasher.combine(exchange.fate)
                })
        }
    }
}

extension Call {
    fileprivate func feed(swapped: Bool, into hasher: inout Hasher) {
        hasher.combine(token)
        hasher.combine(phase)
        Perspective.feed(key, swapped: swapped, into: &hasher)
        guard !isOrphan else { return }
        hasher.combine(swapped ? 1 - process : process)
        hasher.combine(attempt)
        hasher.combine(base.generation)
        hasher.combine(since)
        hasher.combine(startBefore)
        hasher.combine(isCancelled)
        hasher.combine(isUnguarded)
        hasher.combine(isAbandoned)
    }
}
