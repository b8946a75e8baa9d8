import AuthInterface
import Foundation

/// Running what the machine decides.
extension TokenRefreshCoordinator {
    /// Asks the machine something and waits for its answer.
    ///
    /// A cancelled task is answered at once (G7). What it asked for takes its course: nobody owns a refresh.
    func ask(_ event: (WaiterID) -> RefreshEvent) async -> RefreshAnswer {
        let id = core.withLock { WaiterID(number: $0.nextNumber()) }
        let event = event(id)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                run { core, now in
                    core.waiters[id] = continuation
                    let actions = core.machine.handle(event, at: now)
                    // The handler of a task that was cancelled before this line found nobody to cancel.
                    return Task.isCancelled ? actions + core.machine.handle(.waiterCancelled(id), at: now) : actions
                }
            }
        } onCancel: {
            send(.waiterCancelled(id))
        }
    }

    /// Tells the machine something.
    func send(_ event: RefreshEvent) {
        run { core, now in core.machine.handle(event, at: now) }
    }

    /// Steps the machine under the lock, and then does what it decided.
    ///
    /// What must keep its order among threads happens under the lock, none of it for long: handing operations to the
    /// store's queue, publishing states, starting tasks. Cancelling tasks, waking waiters and telling the observer runs
    /// other people's code, and happens after it: a handler that hears of its cancellation may ask for the state.
    private func run(_ step: (inout CoordinatorCore, Instant) -> [RefreshAction]) {
        let now = Instant(uptime: time.uptime, date: time.date)
        let after = core.withLock { core in
            var answers: [(CoordinatorCore.Waiter, RefreshAnswer)] = []
            var events: [SessionEvent] = []
            var stopped: [Task<Void, Never>] = []
            for action in step(&core, now) {
                switch action {
                case .answer(let waiter, let answer):
                    if let continuation = core.waiters.removeValue(forKey: waiter) {
                        answers.append((continuation, answer))
                    }
                case .report(let event): events.append(event)
                default: if let task = perform(action, in: &core) { stopped.append(task) }
                }
            }
            return (answers: answers, events: events, stopped: stopped)
        }
        for task in after.stopped { task.cancel() }
        for (continuation, answer) in after.answers { continuation.resume(returning: answer) }
        if let observer { for event in after.events { observer(event) } }
    }

    /// - Returns: The task that is to be cancelled once the lock is let go of, if there is one.
    private func perform(_ action: RefreshAction, in core: inout CoordinatorCore) -> Task<Void, Never>? {
        switch action {
        case .load: core.worker?.perform(.load)
        case .lease(let id): core.worker?.perform(.lease(id))
        case .reread(let id): core.worker?.perform(.reread(id))
        case .write(let version, let content): core.worker?.perform(.write(version: version, content))
        case .release(let id): core.worker?.perform(.release(id))
        case .call(let id, let base, let refreshToken): core.calls[id] = call(id, base: base, refreshToken)
        case .cancelCall(let id): return core.calls[id]
        case .revoke(let bundle): revoke(bundle, in: &core)
        case .startTimer(let timer, let deadline):
            return core.timers.updateValue(alarm(timer, at: deadline), forKey: timer)
        case .stopTimer(let timer): return core.timers.removeValue(forKey: timer)
        case .publish(let state): for subscriber in core.subscribers.values { subscriber.yield(state) }
        case .answer, .report: break
        }
        return nil
    }

    /// Calls the handler in a task that belongs to nobody: whoever asked for the refresh may leave (G7), and the
    /// answer is kept even if the app lets go of the engine meanwhile.
    private func call(_ id: AttemptID, base: TokenBundle, _ refreshToken: String) -> Task<Void, Never> {
        Task {
            let result: Result<TokenRefreshResult, TokenRefreshError>
            do {
                result = .success(try await handler.refresh(TokenRefreshRequest(refreshToken: refreshToken)))
            } catch {
                result = .failure(.verdict(of: error))
            }
            core.withLock { _ = $0.calls.removeValue(forKey: id) }
            send(.answered(id, base: base, result))
        }
    }

    private func alarm(_ timer: RefreshTimer, at deadline: Duration) -> Task<Void, Never> {
        Task { [weak self, time] in
            guard (try? await time.sleep(until: deadline)) != nil else { return }
            self?.send(.timerFired(timer))
        }
    }

    private func revoke(_ bundle: TokenBundle, in core: inout CoordinatorCore) {
        guard let revocation else { return }
        let id = core.nextNumber()
        let deadline = time.uptime + policy.deadline
        core.revocations[id] = Task {
            // Not a task group: that would wait for a call which ignores its cancellation.
            let (outcomes, outcome) = AsyncStream.makeStream(of: Bool.self)
            let call = Task { outcome.yield((try? await revocation.revoke(bundle)) != nil) }
            let alarm = Task { [time] in
                try? await time.sleep(until: deadline)
                outcome.yield(false)
            }
            let isDone = await outcomes.first { _ in true } ?? false
            call.cancel()
            alarm.cancel()
            self.core.withLock { _ = $0.revocations.removeValue(forKey: id) }
            if !isDone { observer?(.revocationFailed(session: bundle.session)) }
        }
    }
}
