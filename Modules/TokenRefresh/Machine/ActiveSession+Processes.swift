import AuthInterface
import Foundation

/// What other processes that share the store do (G5, G13).
extension ActiveSession {
    /// A check of the store has ended, without the lease.
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

    /// G19: the server's clock is known from now on, so the expiry of a stored token counts on it, and no longer on a
    /// clock that can be set.
    mutating func serverClockKnown(_ context: MachineContext) {
        guard !isCountedFromReceipt else { return }
        expiry = context.expiry(ofStored: bundle)
    }
}

extension TokenBundle {
    /// Whether a stored bundle of another process replaces the bundle of this process.
    ///
    /// Two processes can produce the same generation: one could not save it, and the other started from the saved one.
    /// The stored one is used, because every process can read it.
    func displaces(_ other: TokenBundle) -> Bool {
        supersedes(other)
            || (session == other.session && generation == other.generation && accessToken != other.accessToken)
    }
}

extension TokenBundle {
    /// The time since the access token was received, by the device's clock. `nil`: not known, or the clock was set
    /// back.
    func age(at date: Date) -> Duration? {
        guard let receivedAt, receivedAt.isPlausible, clockSkew.isFinite else { return nil }
        let seconds = date.timeIntervalSince(receivedAt - clockSkew)
        return (0..<1e9).contains(seconds) ? .seconds(seconds) : nil
    }
}

extension StoredSession {
    /// The content that counts when a process starts: a tombstone that is too old counts as empty. A process that is in
    /// the session follows it at any age.
    func current(at date: Date) -> StoredSession {
        guard case .ended(let ended) = self else { return self }
        return date.timeIntervalSince(ended.date) > EndedSession.lifetime / .seconds(1) ? .empty : self
    }
}
