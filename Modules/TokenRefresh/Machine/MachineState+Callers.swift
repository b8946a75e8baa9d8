import AuthInterface

/// Requests of callers, and the first read of the store (G14).
extension MachineState {
    mutating func requested(_ waiter: Waiter) {
        if waiter.request == .settle { return context.callers.add(waiter, to: .settle) }
        switch session {
        case .restoring:
            context.callers.add(waiter, to: .load)
            load()
        case .signedIn(let active) where waiter.request == .restore:
            if active.value.isActivating { waitForPublication(waiter) } else { restore(waiter) }
        case .signedIn: modifySession { $0.requested(waiter, &$1) }
        case .signedOut:
            switch waiter.request {
            case .restore: restore(waiter)
            case .token: context.refuse(waiter, .notSignedIn)
            case .replacement: context.refuse(waiter, .sessionEnded)
            case .refresh, .settle: context.emit(.respond(waiter.id, .state(published)))
            }
        }
    }

    /// A shared store is checked, and one in which a session may begin without a sign-in. A failure changes nothing.
    mutating func restore(_ waiter: Waiter) {
        guard context.settings.isShared || !context.settings.needsRefreshToken, !context.store.isBehind else {
            return context.emit(.respond(waiter.id, .state(published)))
        }
        context.callers.add(waiter, to: .nextCheck)
    }

    mutating func load() {
        guard case .restoring(var restoring) = session else { return }
        if !restoring.isTimed {
            restoring.isTimed = true
            context.emit(.startTimer(.loadDeadline, at: context.uptime + context.policy.storeLimit))
        }
        if !restoring.isReading {
            restoring.isReading = true
            context.emit(.stopTimer(.reload))
            context.emit(.read(.load))
        }
        session = .restoring(restoring)
    }

    /// A store that hangs counts as unavailable. Its result is used when it comes.
    mutating func loadTookTooLong() {
        guard case .restoring(var restoring) = session else { return }
        restoring.isTimed = false
        session = .restoring(restoring)
        guard restoring.isReading else { return }
        failRestoring(.noResponse(within: context.policy.storeLimit), retryAfter: nil)
    }

    /// The first read has ended (G14). A sign-in or a sign-out does not wait for it.
    mutating func loaded(_ result: StoreResult, _ ending: SignOutReason?) {
        guard case .restoring(let restoring) = session else { return }
        context.emit(.stopTimer(.loadDeadline))
        switch result {
        case .success(let content):
            storeFailure = nil
            switch (content.current(at: context.now.date), ending) {
            // It is completed before anything is restored (G30).
            case (.active(let bundle), let ending?): endFound(bundle, ending)
            case (.active(let bundle), nil): begin(stored: bundle)
            case (.tombstone(let tombstone), _): endRestoring(tombstone.reason)
            case (.empty, _): endRestoring(ending ?? .never)
            }
            startOwedCheck()
        case .failure(let error):
            let failures = restoring.failures + 1
            session = .restoring(Restoring(failures: failures))
            let pause = context.pause(afterFailures: failures, ofStore: true)
            context.emit(.startTimer(.reload, at: context.uptime + pause))
            failRestoring(error, retryAfter: pause)
        }
    }

    mutating func begin(stored bundle: TokenBundle) {
        let waiters = context.callers.take(.load)
        use(stored: bundle)
        announce(.signedIn(bundle.session))
        serve(waiters)
    }

    /// Uses the session that the store holds.
    mutating func use(stored bundle: TokenBundle, after sighting: StoreSighting? = nil) {
        session = .signedIn(Placed(ActiveSession(stored: bundle, after: sighting, &context)))
    }

    mutating func endRestoring(_ reason: SignOutReason) {
        let waiters = context.callers.take(.load)
        lastEnding = reason
        session = .signedOut(reason)
        announce(.signedOut(reason))
        serve(waiters)
    }

    mutating func serve(_ waiters: [Waiter]) {
        for waiter in waiters {
            if case .restore = waiter.request {
                context.emit(.respond(waiter.id, .state(published)))
            } else {
                requested(waiter)
            }
        }
    }

    private mutating func failRestoring(_ error: TokenStoreError, retryAfter pause: Duration?) {
        storeFailure = error
        context.emit(.report(.storeFailed(error)))
        for waiter in context.callers.take(.load) {
            context.refuse(waiter, .storeUnavailable, retryAfter: pause, cause: error)
        }
    }
}
