import AuthInterface
import ConcurrencyPrimitives

/// The state behind a follower's lock: the machine, and the handles of the tasks that it has started.
struct FollowerCore {
    var machine: FollowerMachine
    var callers = ShellCallers()
    var timers: [FollowerTimer: Task<Void, Never>] = [:]
    var watcher: Task<Void, Never>?
}

/// Runs the machine and its actions.
extension SessionFollower {
    /// Sends a request to the machine and waits for the response. A cancelled task gets it at once (G7).
    func response(to request: CallerRequest) async throws -> RefreshResponse {
        watchSource()
        let id = core.withLock { $0.callers.nextID() }
        return try await withTaskCancellationHandler {
            await withCheckedContinuation { enter(id, request, $0) }
        } onCancel: {
            send(.waiterCancelled(id))
        }.get()
    }

    private func enter(_ id: WaiterID, _ request: CallerRequest, _ continuation: ShellCallers.Waiter) {
        run { core, now in
            core.callers.enter(continuation, as: id)
            let actions = core.machine.handle(.requested(request, id), at: now)
            // The cancellation handler of a task that was cancelled before this line has found no waiter.
            return Task.isCancelled ? actions + core.machine.handle(.waiterCancelled(id), at: now) : actions
        }
    }

    func send(_ event: FollowerEvent) { run { core, now in core.machine.handle(event, at: now) } }

    /// Handles an event under the lock, and then runs the actions. What runs other code follows after the lock.
    private func run(_ step: (inout FollowerCore, Instant) -> [FollowerAction]) {
        let now = Instant(uptime: clock.uptime, date: clock.date)
        let after = core.withLock { core in
            var responses: [(ShellCallers.Waiter, RefreshResponse)] = []
            var stopped: [Task<Void, Never>?] = []
            var isNeeded = false
            for action in step(&core, now) {
                switch action {
                case .respond(let id, let response):
                    if let leaving = core.callers.leave(id, with: response) { responses.append(leaving) }
                case .publish(let state): core.callers.readers.send(state)
                case .read: read()
                case .bundleNeeded: isNeeded = true
                case .startTimer(let timer, let deadline):
                    stopped.append(core.timers.updateValue(start(timer, at: deadline), forKey: timer))
                case .stopTimer(let timer): stopped.append(core.timers.removeValue(forKey: timer))
                }
            }
            return (responses: responses, stopped: stopped, isNeeded: isNeeded)
        }
        for task in after.stopped { task?.cancel() }
        for (waiter, response) in after.responses { waiter.resume(returning: response) }
        if after.isNeeded { bundleNeeded?() }
    }

    private func start(_ timer: FollowerTimer, at deadline: Duration) -> Task<Void, Never> {
        Task.detached(priority: Self.priority) { [weak self, clock] in
            guard (try? await clock.sleep(until: deadline)) != nil else { return }
            self?.send(.timerFired(timer))
        }
    }

    /// Reads the source. What it holds of a refresh token goes no further than this function.
    private func read() {
        guard let source else { return }
        Task.detached(priority: Self.priority) { [weak self, clock, limit = policy.readLimit] in
            let reading = Task { try await source.read().withoutRefreshToken }
            let isInTime = try? await clock.withDeadline(clock.uptime + limit) {
                _ = await reading.result
                return true
            }
            let late: TokenStoreError? = isInTime == true ? nil : .noResponse(within: limit)
            if let late {
                self?.send(.readIsLate(late))
                reading.cancel()
            }
            self?.send(.read(await reading.result.mapError { late ?? .wrapping($0) }))
        }
    }

    /// Observes the changes of the source, from the first request on. A stream that has ended is opened again after a
    /// pause. Each stream is opened before the source is read, so that no change between the two is missed.
    func watchSource() {
        guard let source else { return }
        core.withLock { core in
            guard core.watcher == nil else { return }
            core.watcher = Task.detached(priority: Self.priority) { [weak self, clock, pause = policy.polling] in
                while !Task.isCancelled {
                    let changes = source.changes
                    self?.send(.changed)
                    for await _ in changes { self?.send(.changed) }
                    guard (try? await clock.sleep(until: clock.uptime + pause)) != nil else { return }
                }
            }
        }
    }

    private static var priority: TaskPriority { .medium }
}
