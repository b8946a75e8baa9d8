import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// Running what the machine decides.
extension TokenRefreshCoordinator {
    /// The coordinator whose handler the current task runs in.
    @TaskLocal static var refreshing: ObjectIdentifier?

    /// Asks the machine something and waits for its answer.
    ///
    /// A cancelled task is answered at once (G7). What it asked for takes its course: nobody owns a refresh.
    func ask(_ event: (WaiterID) -> RefreshEvent) async -> RefreshResponse {
        let id = core.withLock { WaiterID(number: $0.nextNumber()) }
        let event = event(id)
        watchStore()
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

    /// Asks for something that a refresh may be needed for.
    ///
    /// - Throws: ``AuthenticationError`` with code `insideRefresh` in the handler's own task: it would wait for itself
    ///   (G20).
    func ask(for wish: Wish) async throws -> RefreshResponse {
        guard Self.refreshing != ObjectIdentifier(self) else { throw AuthenticationError(.insideRefresh) }
        return await ask { .asked(wish, $0) }
    }

    /// Tells the machine something.
    func send(_ event: RefreshEvent) {
        run { core, now in core.machine.handle(event, at: now) }
    }

    /// Steps the machine under the lock, and then does what it decided.
    ///
    /// What must keep its order among threads happens under the lock, none of it for long: publishing states, starting
    /// tasks. Cancelling tasks, waking waiters and calling the observer runs other people's code, and happens after it:
    /// a handler that is notified of its cancellation may ask for the state.
    private func run(_ step: (inout CoordinatorCore, Instant) -> [RefreshAction]) {
        let now = Instant(uptime: clock.uptime, date: clock.date)
        let after = core.withLock { core in
            var answers: [(CoordinatorCore.Waiter, RefreshResponse)] = []
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

    /// - Returns: The task that is to be cancelled once the lock is free, if there is one.
    private func perform(_ action: RefreshAction, in core: inout CoordinatorCore) -> Task<Void, Never>? {
        switch action {
        case .read(let purpose): read(purpose, under: core.leases.values.first?.lease)
        case .lease(let id): lease(id)
        case .release(let id): release(core.leases.removeValue(forKey: id))
        case .write(let version, let content): core.write = write(version, content)
        case .call(let id, let base, let request): core.calls[id] = call(id, base: base, request)
        case .cancelCall(let id): return core.calls[id]
        case .revoke(let bundle, let besideAnother): revoke(bundle, besideAnother: besideAnother, in: &core)
        case .startTimer(let timer, let deadline):
            return core.timers.updateValue(alarm(timer, at: deadline), forKey: timer)
        case .stopTimer(let timer): return core.timers.removeValue(forKey: timer)
        case .publish(let state): for subscriber in core.subscribers.values { subscriber.yield(state) }
        case .answer, .report: break
        }
        return nil
    }

    // MARK: The store

    // Tasks of the engine inherit nothing of the request that caused them: neither its priority nor its task-locals.

    private func read(_ purpose: ReadPurpose, under lease: (any TokenStoreLease)?) {
        Task.detached(priority: Self.priority) { [weak self, access] in
            let result = await access.read()
            let intent = (try? result.get())?.bundle?.pendingRefresh
            let ownerMayCall = intent.map { lease?.mayStillCall($0.owner) ?? false } ?? false
            self?.send(.read(purpose, result, ownerMayCall: ownerMayCall))
        }
    }

    private func lease(_ id: AttemptID) {
        let limit = policy.deadline
        Task.detached(priority: Self.priority) { [weak self, access] in
            switch await access.lease(waitingAtMost: limit) {
            case .success(let lease):
                guard let lease else { return }
                guard let self else { return await lease.release() }
                self.hold(lease, for: id)
                self.send(.leased(id))
            case .failure(let error):
                self?.send(.leaseFailed(id, error))
            }
        }
    }

    private func hold(_ lease: any TokenStoreLease, for id: AttemptID) {
        let activity = activity.begin("refresh of a shared session") { [weak self] in self?.send(.suspensionNear) }
        core.withLock { $0.leases[id] = HeldLease(lease: lease, activity: activity) }
    }

    private func release(_ lease: HeldLease?) {
        guard let lease else { return }
        Task.detached(priority: Self.priority) { await lease.release() }
    }

    private func write(_ version: Int, _ content: StoreContent) -> Task<Void, Never> {
        Task.detached(priority: Self.priority) { [weak self, access] in
            let outcome = await access.write(content)
            self?.send(.wrote(version: version, outcome))
        }
    }

    /// Watches a shared store, from the first question on (EN6).
    private func watchStore() {
        guard let shared = access.store as? any SharedTokenStore else { return }
        core.withLock { core in
            guard core.watcher == nil else { return }
            core.watcher = Task.detached(priority: Self.priority) { [weak self] in
                for await _ in shared.changes { self?.send(.storeChanged) }
            }
        }
    }

    /// What remains to be done when the coordinator goes: the newest tokens reach the store, and leases end.
    static func flush(
        _ content: StoreContent?,
        after write: Task<Void, Never>?,
        _ leases: [HeldLease],
        _ access: StoreAccess
    ) {
        guard content != nil || !leases.isEmpty else { return }
        Task.detached(priority: priority) {
            await write?.value
            if let content { _ = await access.write(content) }
            for lease in leases { await lease.release() }
        }
    }

    // MARK: The server

    static var priority: TaskPriority { .medium }

    /// Calls the handler in a task of its own: the caller who asked for the refresh may leave (G7), and the response is
    /// kept even if the app releases the engine meanwhile.
    private func call(_ id: AttemptID, base: TokenBundle, _ request: TokenRefreshRequest) -> Task<Void, Never> {
        Task.detached(priority: Self.priority) { [self] in
            let result: Result<TokenRefreshResult, TokenRefreshError>
            do {
                result = .success(
                    try await Self.$refreshing.withValue(ObjectIdentifier(self)) { try await handler.refresh(request) }
                )
            } catch {
                result = .failure(.verdict(of: error))
            }
            core.withLock { _ = $0.calls.removeValue(forKey: id) }
            send(.responded(id, base: base, result))
        }
    }

    private func alarm(_ timer: RefreshTimer, at deadline: Duration) -> Task<Void, Never> {
        Task.detached(priority: Self.priority) { [weak self, clock] in
            guard (try? await clock.sleep(until: deadline)) != nil else { return }
            self?.send(.timerFired(timer))
        }
    }

    private func revoke(_ bundle: TokenBundle, besideAnother: Bool, in core: inout CoordinatorCore) {
        guard let revocation, !besideAnother || revocation.affectsRevokedSessionOnly else { return }
        let id = core.nextNumber()
        let deadline = clock.uptime + policy.deadline
        core.revocations[id] = Task.detached(priority: Self.priority) { [self] in
            // Not a task group: that would wait for a call which ignores its cancellation.
            let (outcomes, outcome) = AsyncStream.makeStream(of: Bool.self)
            let call = Task { outcome.yield((try? await revocation.revoke(bundle)) != nil) }
            let alarm = Task { [clock] in
                try? await clock.sleep(until: deadline)
                outcome.yield(false)
            }
            let isDone = await outcomes.first { _ in true } ?? false
            call.cancel()
            alarm.cancel()
            self.core.withLock { _ = $0.revocations.removeValue(forKey: id) }
            if !isDone { observer?(.revocationFailed(session: bundle.session)) }
        }
    }

    /// Waits until every revocation under way has ended, or the task is cancelled: a revocation goes on without it.
    func endOfRevocations() async {
        let revocations = core.withLock { Array($0.revocations.values) }
        guard !revocations.isEmpty else { return }
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        Task {
            for revocation in revocations { await revocation.value }
            end.finish()
        }
        for await _ in ends {}
    }
}
