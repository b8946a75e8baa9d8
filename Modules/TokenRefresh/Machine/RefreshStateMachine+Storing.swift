import AuthInterface
import Foundation

/// What the store holds, and what follows when a write is done.
extension RefreshStateMachine {
    mutating func beginWriting(_ now: Instant) {
        if desk.mustTime() {
            emit(.startTimer(.writeDeadline(version: desk.version), at: now.uptime + policy.storeDeadline))
        }
        guard let (version, content) = desk.next() else { return }
        emit(.stopTimer(.storeRetry))
        emit(.write(version: version, content))
    }

    mutating func wrote(_ version: Int, _ outcome: WriteOutcome, _ now: Instant) {
        emit(.stopTimer(.writeDeadline(version: version)))
        switch outcome {
        case .written:
            let bundle = desk.finish(version, succeeded: true)
            if let bundle, bundle.session == session?.bundle.session { session?.isStored = true }
            written(version, now)
            answerDeskWaiters(upTo: version, error: nil)
        case .superseded(let found):
            desk.finish(version, succeeded: true)
            superseded(version, by: found, now)
            answerDeskWaiters(upTo: version, error: nil)
        case .failed(let error):
            desk.finish(version, succeeded: false)
            emit(.report(.storeFailed(error)))
            written(version, now)
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
        guard desk.isBehind(version) else { return }
        desk.timeOut(version)
        emit(.report(.storeFailed(error)))
        written(version, now)
        answerDeskWaiters(upTo: version, error: error)
    }

    /// What was to be stored is of a session that another process has ended. Storing it yet would bring that back.
    mutating func forgetWrites() {
        desk.settle()
        emit(.stopTimer(.storeRetry))
        answerDeskWaiters(upTo: desk.version, error: nil)
    }

    /// Goes on with what waited for a write: a login, or a refresh.
    private mutating func written(_ version: Int, _ now: Instant) {
        guard let session else { return }
        if session.activation == version {
            activate(now)
        } else if case .storing(let bundle, let expiry, version)? = session.attempt?.stage {
            commit(bundle, expiry, now)
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
        } else if found.displaces(session.bundle) {
            takeUp(found, now)
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
