import AuthInterface
import Foundation

/// What the store holds, and what follows when a write is done.
extension RefreshStateMachine {
    mutating func beginWriting(_ now: Instant) {
        guard let (version, content) = desk.next() else { return }
        emit(.stopTimer(.storeRetry))
        emit(.startTimer(.writeDeadline(version: version), at: now.uptime + policy.storeDeadline))
        emit(.write(version: version, content))
    }

    mutating func wrote(_ version: Int, _ outcome: WriteOutcome, _ now: Instant) {
        emit(.stopTimer(.writeDeadline(version: version)))
        switch outcome {
        case .written:
            desk.finish(version, succeeded: true)
            written(version, isStored: true, now)
            answerDeskWaiters(upTo: version, error: nil)
        case .superseded(let found):
            desk.finish(version, succeeded: true)
            superseded(version, by: found, now)
            answerDeskWaiters(upTo: version, error: nil)
        case .failed(let error):
            desk.finish(version, succeeded: false)
            emit(.report(.storeFailed(error)))
            written(version, isStored: false, now)
            answerDeskWaiters(upTo: version, error: error)
            if version == desk.version {
                let pause = policy.backoff.delay(afterFailures: desk.failures, using: &random)
                emit(.startTimer(.storeRetry, at: now.uptime + pause))
                return
            }
        }
        beginWriting(now)
    }

    /// G11: the store is not allowed to hold up the app for ever. The write may yet be done.
    mutating func writeTookTooLong(_ version: Int, _ now: Instant) {
        let error = TokenStoreError(.unavailable, reason: "no answer within \(policy.storeDeadline)")
        emit(.report(.storeFailed(error)))
        written(version, isStored: false, now)
        answerDeskWaiters(upTo: version, error: error)
    }

    /// Goes on with what waited for a write: a login, or a refresh.
    private mutating func written(_ version: Int, isStored: Bool, _ now: Instant) {
        guard let session else { return }
        if session.activation == version {
            activate(isStored: isStored, now)
        } else if case .storing(let bundle, let expiry, version)? = session.attempt?.stage {
            commit(bundle, expiry, isStored: isStored, now)
        } else if isStored, version == desk.version {
            self.session?.isStored = true
        }
    }

    /// The store held something that a refresh must not replace: the work of another process.
    private mutating func superseded(_ version: Int, by found: TokenBundle?, _ now: Instant) {
        guard let session, version == desk.version else { return }
        guard let found else {
            // Another process has signed the user out while this one refreshed.
            endSession(.byUser, revoking: newestBundle, deleting: false, now)
            return
        }
        if found.session != session.bundle.session {
            replaceSession(by: found, now)
        } else if found.supersedes(session.bundle) {
            self.session?.bundle = found
            self.session?.expiry = Expiry(restored: found, at: now, skew: clockSkew ?? found.clockSkew, policy: policy)
            self.session?.origin = .store
            self.session?.isStored = true
            emit(.report(.adopted(session: found.session, generation: found.generation)))
            finishAttempt(now)
        }
    }

    /// Tells those who signed in or out how it went with the store. A login holds without the store; a logout that
    /// could not delete the tokens says so.
    mutating func answerDeskWaiters(upTo version: Int, error: TokenStoreError?) {
        let isSignedIn = standing == .signedIn
        for waiter in desk.takeWaiters(upTo: version) {
            if let error, !isSignedIn {
                emit(.answer(waiter, .failed(AuthenticationError(.storeUnavailable, cause: error))))
            } else {
                emit(.answer(waiter, .done))
            }
        }
    }
}
