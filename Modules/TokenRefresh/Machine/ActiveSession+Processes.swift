import AuthInterface
import Foundation

/// What other processes that share the store do (G5, G13).
extension ActiveSession {
    /// The store was looked at, without the lease.
    mutating func checked(_ found: StoredSession?, _ context: inout MachineContext) -> SessionOutcome {
        guard !isActivating, !context.store.isBehind else { return .continues }
        switch found {
        case .ended(let ended) where isStored:
            return .ends(ended.reason, revoking: nil, inStore: true)
        case .active(let stored) where stored.session != bundle.session && isStored:
            return .isReplaced(by: stored)
        case .active(let stored) where stored.displaces(bundle) && canStart:
            adoptTokens(stored, &context)
            context.emit(.report(.adopted(session: stored.session, generation: stored.generation)))
            return finishAttempt(&context)
        default: return .continues
        }
    }

    /// G19: the server's clock is known now. The expiry of a token from the store was counted on a clock that can be
    /// set; now it can be counted on the server's.
    mutating func serverClockKnown(_ context: MachineContext) {
        guard !isCountedFromReceipt else { return }
        expiry = context.expiry(ofStored: bundle)
    }
}

extension TokenBundle {
    /// Whether another process's bundle, found in the store, takes the place of this process's.
    ///
    /// Two processes can each have made the same generation: one could not save it, and the other began from what was
    /// saved. The store's is the one that every process can see, so it is the one to use.
    func displaces(_ other: TokenBundle) -> Bool {
        supersedes(other)
            || (session == other.session && generation == other.generation && accessToken != other.accessToken)
    }
}

extension TokenBundle {
    /// How long ago the access token was received, by the device's clock. `nil`: not known, or the clock was set back.
    func age(at date: Date) -> Duration? {
        guard let receivedAt, receivedAt.isPlausible, clockSkew.isFinite else { return nil }
        let seconds = date.timeIntervalSince(receivedAt - clockSkew)
        return (0..<1e9).contains(seconds) ? .seconds(seconds) : nil
    }
}

extension StoredSession {
    /// What counts at an instant when a process starts: the note of a session that ended too long ago counts as nothing.
    /// A process that is in the session still follows it, whatever the clock says.
    func current(at date: Date) -> StoredSession {
        guard case .ended(let ended) = self else { return self }
        return date.timeIntervalSince(ended.date) > EndedSession.lifetime / .seconds(1) ? .empty : self
    }
}
