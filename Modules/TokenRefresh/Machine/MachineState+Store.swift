import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// The store, and what other processes that share it do (G5, G11, G13).
extension MachineState {
    mutating func wrote(_ version: Int, _ outcome: WriteOutcome) {
        context.emit(.stopTimer(.writeDeadline(version: version)))
        var failure: TokenStoreError?
        if case .failed(let error) = outcome { failure = error }
        let content = context.store.finish(version, outcome)
        context.hasNews = true
        withSession { session, _ in session.noteWriteEnded() }
        storeFailure = failure
        if let failure { context.emit(.report(.storeFailed(failure))) }
        if case .ended(_, _, let scope)? = content, case .written(let removed?) = outcome {
            // Another process had newer tokens than the ones that were revoked, or nothing was known of them.
            revokeRemoved(removed, of: scope)
        }
        withSession { $0.wrote(version, content, outcome, &$1) }
        activate(version)
        revokeWritten(upTo: version)
        answerStoreWaiters(failure, upTo: version)
        if failure != nil, context.store.version == version, context.store.isBehind {
            let pause = context.pause(afterFailures: context.store.failures)
            context.emit(.startTimer(.storeRetry, at: context.now.uptime + pause))
        } else {
            context.beginWriting()
        }
    }

    mutating func revokeRemoved(_ removed: TokenBundle, of scope: EndScope) {
        if case .unread = scope { return revoke(removed) }
        guard removed.session == scope.session, let last = lastRevoked, removed.supersedes(last) else { return }
        revoke(removed)
    }

    mutating func activate(_ version: Int) {
        guard case .signedIn(var session) = state, session.activate(version) else { return }
        state = .signedIn(session)
        announce(.signedIn(session.bundle.session))
        withSession { $0.serveQueue(&$1) }
    }

    /// G11: the store must not hold up the application. The write may yet succeed.
    mutating func writeTookTooLong(_ version: Int) {
        guard context.store.lacks(version) else { return }
        context.store.timeOut(version)
        let limit = context.policy.storeDeadline.inWords
        let error = TokenStoreError(.unavailable, reason: "no response within \(limit)")
        storeFailure = error
        context.emit(.report(.storeFailed(error)))
        activate(version)
        withSession { $0.writeTookTooLong(version, error, &$1) }
        revokeWritten(upTo: version)
        answerStoreWaiters(error, upTo: version)
    }

    /// Tells those who signed in or out how it went with the store. A sign-in holds without the store; a sign-out that
    /// could not delete the tokens says so.
    mutating func answerStoreWaiters(_ error: TokenStoreError?, upTo version: Int? = nil) {
        var isSignedOut = false
        if case .signedOut = state { isSignedOut = true }
        for waiter in context.store.takeWaiters(upTo: version ?? context.store.version) {
            if let error, isSignedOut {
                context.emit(.answer(waiter, .failed(AuthenticationError(.storeUnavailable, cause: error))))
            } else {
                context.emit(.answer(waiter, .done))
            }
        }
    }

    // MARK: What other processes do

    mutating func storeChanged() {
        if case .unknown = state { return load() }
        guard context.settings.isShared else { return }
        if !look.isUnderWay { startLook() } else { look.mustRepeat = true }
    }

    /// Lets a caller wait for a look that starts now, but not for longer than a store may take.
    mutating func lookFor(_ waiter: Waiter) {
        if !look.isUnderWay {
            look.waiters.add(waiter)
            startLook()
        } else {
            look.laterWaiters.add(waiter)
        }
        guard !look.isTimed else { return }
        look.isTimed = true
        context.emit(.startTimer(.lookDeadline, at: context.now.uptime + loadLimit))
    }

    mutating func startLook() {
        (look.isUnderWay, look.isStale, look.mustRepeat) = (true, false, false)
        context.hasNews = false
        for waiter in look.laterWaiters.takeAll() { look.waiters.add(waiter) }
        context.emit(.read(.look))
    }

    mutating func looked(_ result: Result<StoredSession, TokenStoreError>) {
        let isStale = look.isStale
        (look.isUnderWay, look.isStale) = (false, false)
        if !isStale {
            follow((try? result.get()).flatMap(\.readable))
            for waiter in look.waiters.takeAll() { serveLooker(waiter) }
        }
        if isStale || look.mustRepeat || !look.laterWaiters.isEmpty {
            startLook()
        } else if look.isTimed {
            look.isTimed = false
            context.emit(.stopTimer(.lookDeadline))
        }
    }

    mutating func follow(_ found: StoredSession?) {
        switch (state, found) {
        case (.signedIn, _):
            withSession { $0.looked(found, &$1) }
        case (.signedOut, .active(let bundle)) where !context.store.isBehind && unreadEnd == nil:
            failedEnd = false
            state = .signedIn(ActiveSession(stored: bundle, context))
            announce(.signedIn(bundle.session))
        case (.signedOut, _), (.unknown, _): break
        }
    }

    /// A store that hangs has shown nothing. Its answer is taken when it comes.
    mutating func lookTookTooLong() {
        look.isTimed = false
        for waiter in look.waiters.takeAll() + look.laterWaiters.takeAll() { serveLooker(waiter) }
    }

    mutating func serveLooker(_ waiter: Waiter) {
        switch (waiter.wish, standing) {
        case (.replacement, .signedIn), (.replacement, .activating): withSession { $0.serveLooker(waiter, &$1) }
        case (.replacement, _): context.emit(.answer(waiter.id, .failed(AuthenticationError(.sessionEnded))))
        case (_, .activating): restorers.add(waiter)
        default: context.emit(.answer(waiter.id, .state(published)))
        }
    }

    mutating func suspensionNear() {
        isSuspending = true
        withSession { $0.suspensionNear(&$1) }
    }

    /// Tokens that the store does not hold yet keep the other processes out, and so does a call whose intent is not
    /// marked: one may have been made since the suspension was announced.
    mutating func releaseForSuspension() {
        guard !context.store.isBehind else { return }
        withSession { $0.suspensionNear(&$1) }
        if !context.store.isBehind { context.releaseLease() }
    }
}
