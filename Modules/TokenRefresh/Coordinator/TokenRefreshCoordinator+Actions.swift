import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// Runs the machine and its actions.
extension TokenRefreshCoordinator {
    /// Sends an event to the machine and waits for the response.
    ///
    /// A cancelled task gets its response at once (G7). The refresh that it started continues.
    func response(to event: (WaiterID) -> RefreshEvent) async -> RefreshResponse {
        let id = WaiterID(number: core.withLock { $0.nextNumber() })
        let event = event(id)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                run { core, now in
                    watchStore(in: &core)
                    core.waiters[id] = continuation
                    let actions = core.machine.handle(event, at: now)
                    // The cancellation handler of a task that was cancelled before this line has found no waiter.
                    return Task.isCancelled ? actions + core.machine.handle(.waiterCancelled(id), at: now) : actions
                }
            }
        } onCancel: {
            send(.waiterCancelled(id))
        }
    }

    /// Sends a request that may need a refresh.
    ///
    /// - Throws: ``AuthenticationError`` with code `insideRefresh` in a call of the own handler, and in a task that it
    ///   started while the call is under way: it would wait for itself (G20).
    func response(to request: CallerRequest) async throws -> RefreshResponse {
        guard !HandlerCall.isRunning(in: self) else { throw AuthenticationError(.insideRefresh) }
        return await response { .requested(request, $0) }
    }

    /// Sends an event to the machine.
    func send(_ event: RefreshEvent) {
        run { core, now in core.machine.handle(event, at: now) }
    }

    /// Handles an event under the lock, and then runs the actions.
    ///
    /// Actions that must keep their order run under the lock, and are short: publishing states, starting tasks.
    /// Cancelling tasks, resuming waiters and calling the observer run other code and follow after it: a handler that
    /// is notified of its cancellation may read the state.
    private func run(_ step: (inout CoordinatorCore, Instant) -> [RefreshAction]) {
        let now = Instant(uptime: clock.uptime, date: clock.date, asleep: clock.asleep)
        let after = core.withLock { core in
            var responses: [(CoordinatorCore.Waiter, RefreshResponse)] = []
            var events: [SessionEvent] = []
            var stopped: [Task<Void, Never>] = []
            var isSignedIn = false
            let lost = core.reportLostLeases(now)
            for action in lost.isEmpty ? step(&core, now) : lost + step(&core, now) {
                switch action {
                case .respond(let waiter, let response):
                    if let continuation = core.waiters.removeValue(forKey: waiter) {
                        responses.append((continuation, response))
                    }
                case .report(let event):
                    if case .signedIn = event { isSignedIn = true }
                    events.append(event)
                default: if let task = perform(action, in: &core) { stopped.append(task) }
                }
            }
            if isSignedIn { stopped += core.broadRevocations }
            if let task = keepWhileAtWork(&core, now) { stopped.append(task) }
            ready.withLock { $0 = core.machine.ready }
            return (responses: responses, events: events, stopped: stopped)
        }
        for task in after.stopped { task.cancel() }
        for (continuation, response) in after.responses { continuation.resume(returning: response) }
        if let observer { for event in after.events { observer(event) } }
    }

    /// Keeps the engine while it has work under way, or a pause that the account's next engine would not know (G6).
    /// Under the engine's lock, so that the last change counts.
    ///
    /// - Returns: The wait for an earlier end of the pause, which is to be cancelled once the lock is free.
    private func keepWhileAtWork(_ core: inout CoordinatorCore, _ now: Instant) -> Task<Void, Never>? {
        let isAtWork = !core.machine.isIdle
        var pauseEnd = core.machine.pauseEnd(at: now.uptime)
        if pauseEnd != nil, !isAtWork, EnginesAtWork.isFull { pauseEnd = nil }
        if core.isKept != (isAtWork || pauseEnd != nil) {
            core.isKept.toggle()
            if core.isKept { EnginesAtWork.insert(self) } else { EnginesAtWork.remove(self) }
        }
        guard core.pause?.end != pauseEnd else { return nil }
        let earlier = core.pause?.wait
        core.pause = pauseEnd.map { ($0, wait(forPauseUntil: $0)) }
        return earlier
    }

    private func wait(forPauseUntil end: Duration) -> Task<Void, Never> {
        Task.detached(priority: Self.priority) { [weak self, clock] in
            guard (try? await clock.sleep(until: end)) != nil else { return }
            self?.run { _, _ in [] }
        }
    }

    /// - Returns: The task that is to be cancelled once the lock is free, if there is one.
    private func perform(_ action: RefreshAction, in core: inout CoordinatorCore) -> Task<Void, Never>? {
        switch action {
        case .read(let purpose): read(purpose, in: core)
        case .lease(let id): lease(id)
        case .release(let id): release(core.leases.removeValue(forKey: id))
        case .write(let version, let content): write(version, content, in: core)
        case .readJournal:
            Task.detached(priority: Self.priority) { [weak self, access] in
                let result = await access.readJournal()
                self?.send(.journalRead(result))
            }
        case .writeJournal(let edit):
            Task.detached(priority: Self.priority) { [weak self, access] in
                let result = await access.writeJournal(edit)
                self?.send(.journalWrote(result))
            }
        case .call(let id, let base, let request, let startBefore):
            call(id, base: base, request, startBefore: startBefore, in: &core)
        case .cancelCall(let id):
            // Nothing writes it from here on.
            _ = core.calls[id]?.permit.withdraw()
            return core.calls[id]?.task
        case .withdrawCall(let id):
            if let call = core.calls[id], call.permit.withdraw() != .made { return call.task }
        case .revoke(let bundle, let besideAnother): revoke(bundle, besideAnother: besideAnother, in: &core)
        case .releaseKey(let binding): releaseKey(binding, in: &core)
        case .startTimer(let timer, let deadline):
            return start(timer, at: deadline, in: &core)
        case .stopTimer(let timer): return core.timers.removeValue(forKey: timer)?.task
        case .publish(let state): core.subscribers.send(state)
        case .respond, .report: break
        }
        return nil
    }

    // MARK: The store

    // Tasks of the engine inherit nothing of the request that started them: neither its priority nor its task-locals.

    /// What the first read and each write wait for. The result is the failure of one whose turn does not come in time.
    ///
    /// In a store of this process: the engines that began work on it before this one. The store does not hold their
    /// tokens yet, and what they write would replace what this one has written. A store that processes share needs no
    /// such wait: the lease is held until the tokens are stored, and each write finds what it would replace. Its
    /// changes must be reported first: one between a read and the opening of the stream would never be noticed.
    private func turn(_ opening: Task<AsyncStream<Void>, Never>?) -> @Sendable () async -> TokenStoreError? {
        if let opening {
            return {
                _ = await opening.value
                return nil
            }
        }
        let (place, engine, limit) = (place, ObjectIdentifier(self), policy.storeLimit / 2)
        return {
            guard await !EnginesAtWork.haveStored(at: place, before: engine, within: limit) else { return nil }
            return TokenStoreError(.busy, reason: "an earlier engine of this process has not stored its tokens yet")
        }
    }

    private func read(_ purpose: ReadPurpose, in core: CoordinatorCore) {
        let turn = purpose == .load ? turn(core.opening) : nil
        Task.detached(priority: Self.priority) { [weak self, access, lease = core.newestLease] in
            if let error = await turn?() {
                self?.send(.read(purpose, .failure(error), ownerMayCall: false))
                return
            }
            let result = await access.read()
            let intent = (try? result.get())?.bundle?.refreshIntent
            let ownerMayCall = intent.map { lease?.mayStillCall($0) ?? false } ?? false
            self?.send(.read(purpose, result, ownerMayCall: ownerMayCall))
        }
    }

    /// Waits for the lease within an activity. An activity that expires cancels the wait, also before it starts.
    private func lease(_ id: AttemptID) {
        let limit = policy.deadline
        Task.detached(priority: Self.priority) { [weak self, access, activity] in
            let hasBegun = Race<Void>()
            let wait = Task { [weak self] in
                await hasBegun.value()
                return await access.lease(waitingAtMost: limit) { [weak self] in self?.send(.leaseHeld($0)) }
            }
            let token = activity.begin("refresh of a shared session") { [weak self] in
                wait.cancel()
                self?.run { core, now in core.suspend(now) }
            }
            hasBegun.end(())
            switch await wait.value {
            case .success(let lease):
                guard let lease else { return }
                let held = HeldLease(lease: lease, activity: token, wait: wait)
                guard let self else { return await held.release() }
                self.hold(held, for: id)
            case .failure(let error):
                token.end()
                self?.send(.leaseFailed(id, error))
            }
        }
    }

    /// Notifies the machine of a lease, and of an activity that expired before.
    private func hold(_ lease: HeldLease, for id: AttemptID) {
        run { core, now in
            core.leases[id] = lease
            let actions = core.machine.handle(.leased(id, identity: lease.lease.identity), at: now)
            return lease.wait.isCancelled ? actions + core.suspend(now) : actions
        }
    }

    private func release(_ lease: HeldLease?) {
        guard let lease else { return }
        Task.detached(priority: Self.priority) { await lease.release() }
    }

    private func write(_ version: Int, _ content: StoreContent, in core: CoordinatorCore) {
        let turn = turn(core.opening)
        Task.detached(priority: Self.priority) { [weak self, access] in
            let error = await turn()
            let outcome = if let error { WriteOutcome.failed(error) } else { await access.write(content) }
            self?.send(.wrote(version: version, outcome))
        }
    }

    /// The pauses between checks of a store that cannot report changes. They stay short: a sign-out elsewhere is
    /// noticed within seconds (G5, G25).
    static let polling = Backoff(base: .seconds(1), limit: .seconds(4), floor: .seconds(1))

    /// Observes the changes of a shared store, from the first request on. A stream that has ended is opened again after
    /// a pause, and the store is checked: its folder may be on a disk that was mounted since, or on a network.
    private func watchStore(in core: inout CoordinatorCore) {
        guard core.watcher == nil, let shared = access.shared else { return }
        let opening = Task.detached(priority: Self.priority) { shared.changes }
        core.opening = opening
        core.watcher = Task.detached(priority: Self.priority) { [weak self, clock] in
            var start = clock.uptime
            var changes = await opening.value
            var endings = 0
            while !Task.isCancelled {
                let lasting = endings > 1 ? self?.wait(forWatchSince: start) : nil
                for await _ in changes { self?.send(.storeChanged) }
                lasting?.cancel()
                endings = clock.uptime - start < Self.polling.limit ? endings + 1 : 1
                // One stream ends where a disk is mounted; two in a row mean that the store cannot watch.
                if endings > 1 { self?.watchChanged(isWatched: false) }
                let pause = Self.polling.delay(afterFailures: endings)
                guard (try? await clock.sleep(until: clock.uptime + pause)) != nil else { return }
                start = clock.uptime
                changes = shared.changes
                self?.send(.storeChanged)
            }
        }
    }

    /// A stream that lasts shows that the store can report changes again.
    private func wait(forWatchSince start: Duration) -> Task<Void, Never> {
        Task.detached(priority: Self.priority) { [weak self, clock] in
            guard (try? await clock.sleep(until: start + Self.polling.limit)) != nil else { return }
            self?.watchChanged(isWatched: true)
        }
    }

    private func watchChanged(isWatched: Bool) {
        let isNew = core.withLock { core in
            defer { core.isWatched = isWatched }
            return core.isWatched != isWatched
        }
        if isNew, !isWatched { observer?(.storeNotWatched(pause: Self.polling.limit)) }
    }

    // MARK: The server

    static var priority: TaskPriority { .medium }

    /// Calls the handler in a separate task: the caller that started the refresh may be cancelled (G7), and the
    /// response is kept even if the app releases the engine meanwhile.
    ///
    /// G28. Directly before it, the right to make the call is checked. What the handler writes with may check it again.
    private func call(
        _ id: AttemptID, base: TokenBundle, _ request: TokenRefreshRequest, startBefore: Duration,
        in core: inout CoordinatorCore
    ) {
        let permit = StartPermit(until: startBefore, on: clock)
        var permitted = request
        permitted.startPermit = permit
        let task = Task.detached(priority: Self.priority) { [self, permitted] in
            let result: Result<TokenRefreshResult, TokenRefreshError>
            do {
                guard permit.handOver() else { throw TokenRefreshError(.unavailable, reason: "too late for a call") }
                result = .success(
                    try await HandlerCall.run(of: self) { [handler] in try await handler.refresh(permitted) }
                )
            } catch {
                result = .failure(.verdict(of: error))
            }
            self.core.withLock { _ = $0.calls.removeValue(forKey: id) }
            if case .failure(let error) = result, error.status == nil, error.code != .keyLost,
                permit.withdraw() == .notMade
            {
                send(.callNotMade(id, error))
            } else {
                send(.responded(id, base: base, result))
            }
        }
        core.calls[id] = (task, permit)
    }

    /// - Returns: The timer that is replaced.
    private func start(_ timer: RefreshTimer, at deadline: Duration, in core: inout CoordinatorCore) -> Task<
        Void, Never
    >? {
        let number = core.nextNumber()
        let task = Task.detached(priority: Self.priority) { [weak self, clock] in
            guard (try? await clock.sleep(until: deadline)) != nil else { return }
            self?.fire(timer, number)
        }
        return core.timers.updateValue((number, task), forKey: timer)?.task
    }

    /// A timer that was stopped or replaced as it fired does nothing.
    private func fire(_ timer: RefreshTimer, _ number: Int) {
        run { core, now in
            guard core.timers[timer]?.number == number else { return [] }
            core.timers[timer] = nil
            return core.machine.handle(.timerFired(timer), at: now)
        }
    }

    private func revoke(_ bundle: TokenBundle, besideAnother: Bool, in core: inout CoordinatorCore) {
        guard let revocation, !besideAnother || revocation.affectsRevokedSessionOnly else { return }
        let id = core.nextNumber()
        let deadline = clock.uptime + policy.deadline
        let task = Task.detached(priority: Self.priority) { [self] in
            let isDone = try? await clock.withDeadline(deadline) {
                try await HandlerCall.run(of: self) { try await revocation.revoke(bundle) }
                return true
            }
            self.core.withLock { _ = $0.revocations.removeValue(forKey: id) }
            if isDone != true { observer?(.revocationFailed(session: bundle.session)) }
        }
        core.revocations[id] = (task, revocation.affectsRevokedSessionOnly)
    }

    /// G9. What revokes the session before, and may end every session of the user, is cancelled: it must not reach the
    /// server after the user has signed in there again.
    func cancelBroadRevocations() {
        for task in core.withLock({ $0.broadRevocations }) { task.cancel() }
    }

    /// G34. `settle` waits for it as for a revocation.
    private func releaseKey(_ binding: TokenBinding, in core: inout CoordinatorCore) {
        guard let handler = handler as? any TokenBindingHandler else { return }
        let id = core.nextNumber()
        let deadline = clock.uptime + policy.storeLimit
        let task = Task.detached(priority: Self.priority) { [self] in
            _ = try? await clock.withDeadline(deadline) {
                try await HandlerCall.run(of: self) { try await handler.release(binding) }
            }
            self.core.withLock { _ = $0.revocations.removeValue(forKey: id) }
        }
        core.revocations[id] = (task, isNarrow: true)
    }

    /// Waits until every revocation under way has ended, or the task is cancelled, which does not cancel a revocation.
    func endOfRevocations() async {
        let revocations = core.withLock { $0.revocations.values.map(\.task) }
        guard !revocations.isEmpty else { return }
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        Task {
            for revocation in revocations { await revocation.value }
            end.finish()
        }
        for await _ in ends {}
    }
}
