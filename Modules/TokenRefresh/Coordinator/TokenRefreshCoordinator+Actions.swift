import AuthInterface
import ConcurrencyPrimitives

/// Runs the machine and its actions.
extension TokenRefreshCoordinator {
    /// Sends an event to the machine and waits for the response. A cancelled task gets it at once (G7).
    ///
    /// What the waiting functions hold fits the first 1,000 bytes of a task: so they are inlined, and what needs room
    /// before the wait is not. Without it a caller of a burst costs 1.5 KB and 6 µs in place of 0.4 KB and 2.3 µs.
    @inline(__always)
    func response(to event: (WaiterID) -> RefreshEvent) async -> RefreshResponse {
        let id = core.withLock { $0.callers.nextID() }
        let event = event(id)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { enter(id, with: event, $0) }
        } onCancel: {
            send(.waiterCancelled(id))
        }
    }

    @inline(never)
    private func enter(_ id: WaiterID, with event: RefreshEvent, _ continuation: ShellCallers.Waiter) {
        run { core, now in
            watchStore(in: &core)
            core.callers.enter(continuation, as: id)
            let actions = core.machine.handle(event, at: now)
            // The cancellation handler of a task that was cancelled before this line has found no waiter.
            return Task.isCancelled ? actions + core.machine.handle(.waiterCancelled(id), at: now) : actions
        }
    }

    /// Sends a request that may need a refresh.
    ///
    /// - Throws: ``AuthenticationError`` with code `insideRefresh` in a call of the own handler, and in a task that it
    ///   started while the call is under way: it would wait for itself (G20).
    @inline(__always)
    func response(to request: CallerRequest) async throws -> RefreshResponse {
        guard !HandlerCall.isRunning(in: self) else { throw AuthenticationError(.insideRefresh) }
        return await response { .requested(request, $0) }
    }

    func send(_ event: RefreshEvent) { run { core, now in core.machine.handle(event, at: now) } }

    /// Handles an event under the lock, and then runs the actions.
    ///
    /// Actions that must keep their order run under the lock, and are short: publishing states, starting tasks.
    /// Cancelling tasks, resuming waiters and calling the observer run other code and follow after it: a handler that
    /// is notified of its cancellation may read the state.
    @inline(never)
    func run(_ step: (inout CoordinatorCore, Instant) -> [RefreshAction]) {
        let now = Instant(uptime: clock.uptime, date: clock.date, asleep: clock.asleep)
        let after = core.withLock { core in
            var responses: [(ShellCallers.Waiter, RefreshResponse)] = []
            var events: [SessionEvent] = []
            var stopped: [Task<Void, Never>] = []
            var isSignedIn = false
            let lost = core.reportLostLeases(now)
            for action in lost.isEmpty ? step(&core, now) : lost + step(&core, now) {
                switch action {
                case .respond(let id, let response):
                    if let leaving = core.callers.leave(id, with: response) { responses.append(leaving) }
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
        for (waiter, response) in after.responses { waiter.resume(returning: response) }
        if let observer { for event in after.events { observer(event) } }
    }

    /// Keeps the engine while it has work under way, or a pause that the account's next engine would not know (G6).
    /// Returns the wait for an earlier end of the pause, which is to be cancelled once the lock is free.
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
        core.pause = pauseEnd.map { end in (end, wait(until: end) { engine in engine.run { _, _ in [] } }) }
        return earlier
    }

    /// Returns the task that is to be cancelled once the lock is free, if there is one.
    private func perform(_ action: RefreshAction, in core: inout CoordinatorCore) -> Task<Void, Never>? {
        switch action {
        case .read(let purpose): read(purpose, in: core)
        case .lease(let id): lease(id)
        case .release(let id): release(core.leases.removeValue(forKey: id))
        case .write(let version, let content): write(version, content, in: core)
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
            let number = core.callers.nextNumber()
            let task = wait(until: deadline) { $0.fire(timer, number) }
            return core.timers.updateValue((number, task), forKey: timer)?.task
        case .stopTimer(let timer): return core.timers.removeValue(forKey: timer)?.task
        case .publish(let state): core.callers.readers.send(state)
        case .respond, .report: break
        }
        return nil
    }

    // MARK: Tasks

    /// Tasks of the engine inherit nothing of the request that started them: neither its priority nor its task-locals.
    static var priority: TaskPriority { .medium }

    /// Does something at an instant, unless the engine has ended or the task was cancelled before.
    func wait(
        until uptime: Duration, then work: @escaping @Sendable (TokenRefreshCoordinator) -> Void
    ) -> Task<Void, Never> {
        Task.detached(priority: Self.priority) { [weak self, clock] in
            guard (try? await clock.sleep(until: uptime)) != nil, let self else { return }
            work(self)
        }
    }

    /// A timer that was stopped or replaced as it fired does nothing.
    private func fire(_ timer: RefreshTimer, _ number: Int) {
        run { core, now in
            guard core.timers[timer]?.number == number else { return [] }
            core.timers[timer] = nil
            return core.machine.handle(.timerFired(timer), at: now)
        }
    }

    // MARK: Work under way

    /// Whether the store holds the newest tokens, none are about to come, and it holds none that are to be removed,
    /// also as far as only the journal shows it yet.
    var hasStored: Bool {
        let status = status
        return status.isStored && !status.isRefreshing && !status.isSignOutPending
    }

    /// Waits until no refresh and no write is under way, and then for more. Returns whether all has ended in time.
    func isIdle(
        within limit: Duration, then more: @escaping @Sendable (TokenRefreshCoordinator) async -> Void = { _ in }
    ) async -> Bool {
        let isDone = try? await clock.withDeadline(clock.uptime + limit) {
            guard case .done = await self.response(to: { .requested(.settle, $0) }) else { return false }
            await more(self)
            return !Task.isCancelled
        }
        return isDone ?? false
    }
}
