import AuthInterface
import ConcurrencyPrimitives

/// The store: its lease, its reads and writes, and its changes.
extension TokenRefreshCoordinator {
    /// What the first read and each write wait for. The result is the failure of one whose turn does not come in time.
    ///
    /// In a store of this process: the engines that began work on it before this one, as what they write would replace
    /// what this one has written. In a shared store each write finds what it would replace; its changes are reported
    /// before, as one between a read and the opening of the stream would never be noticed.
    private func turn(_ opening: Task<AsyncStream<Void>, Never>?) -> @Sendable () async -> TokenStoreError? {
        let (place, engine, limit) = (place, ObjectIdentifier(self), policy.storeLimit / 2)
        return {
            if let opening {
                _ = await opening.value
                return nil
            }
            guard await !EnginesAtWork.haveStored(at: place, before: engine, within: limit) else { return nil }
            return TokenStoreError(.busy, reason: "an earlier engine of this process has not stored its tokens yet")
        }
    }

    func read(_ purpose: ReadPurpose, in core: CoordinatorCore) {
        let turn = purpose == .load ? turn(core.opening) : nil
        let begins = purpose == .load && !handler.needsRefreshToken
        Task.detached(priority: Self.priority) { [weak self, store, lease = core.newestLease] in
            if let error = await turn?() {
                self?.send(.read(purpose, StoreReading(result: .failure(error)), ownerMayCall: false))
                return
            }
            var reading = await store.read(isFirst: purpose == .load)
            if begins { reading = await store.begin(after: reading) }
            let intent = (try? reading.result.get())?.bundle?.refreshIntent
            let ownerMayCall = intent.map { lease?.mayStillCall($0) ?? false } ?? false
            self?.send(.read(purpose, reading, ownerMayCall: ownerMayCall))
        }
    }

    /// Reads what other processes have signed in before this one signs in or out (rule 10), for half of the store's
    /// limit at most. The task may be cancelled: what follows is not.
    func readOrder() async {
        guard store.access.shared != nil || state == .unknown else { return }
        await Task.detached(priority: Self.priority) { [weak self, store] in
            let reading = await store.readOrder()
            self?.send(.read(.order, reading, ownerMayCall: false))
        }.value
    }

    /// Waits for the lease within an activity. An activity that expires cancels the wait, also before it starts.
    func lease(_ id: AttemptID) {
        guard let shared = store.access.shared else { return }
        let limit = policy.deadline
        Task.detached(priority: Self.priority) { [weak self, activity] in
            let hasBegun = Race<Void>()
            let wait = Task { [weak self] in
                await hasBegun.value()
                return try await shared.lease(waitingAtMost: limit) { [weak self] in
                    self?.send(.lease(.held(by: $0)))
                }
            }
            let token = activity.begin("refresh of a shared session") { [weak self] in
                wait.cancel()
                self?.run { core, now in core.suspend(now) }
            }
            hasBegun.end(())
            switch await wait.result {
            case .success(let lease):
                let held = HeldLease(lease: lease, activity: token, wait: wait)
                guard let self else { return await held.release() }
                self.hold(held, for: id)
            case .failure(let error):
                token.end()
                self?.send(.lease(.failed(id, .wrapping(error))))
            }
        }
    }

    /// Notifies the machine of a lease, and of an activity that expired before.
    private func hold(_ lease: HeldLease, for id: AttemptID) {
        run { core, now in
            core.leases[id] = lease
            let actions = core.machine.handle(.lease(.taken(id, identity: lease.lease.identity)), at: now)
            return lease.wait.isCancelled ? actions + core.suspend(now) : actions
        }
    }

    func release(_ lease: HeldLease?) {
        guard let lease else { return }
        Task.detached(priority: Self.priority) { await lease.release() }
    }

    func write(_ version: Int, _ content: StoreContent, in core: CoordinatorCore) {
        let turn = turn(core.opening)
        Task.detached(priority: Self.priority) { [weak self, store] in
            let error = await turn()
            let outcome =
                if let error {
                    WriteOutcome.failed(error)
                } else {
                    await store.write(content) { [weak self] in self?.send(.noted(version: version)) }
                }
            self?.send(.wrote(version: version, outcome))
        }
    }

    /// The pauses between checks of a store that cannot report changes. They stay short: a sign-out elsewhere is
    /// noticed within seconds (G5, G25).
    static let polling = Backoff(base: .seconds(1), limit: .seconds(4), floor: .seconds(1))

    /// Observes the changes of a shared store, from the first request on. A stream that has ended is opened again after
    /// a pause, and the store is checked: its folder may be on a disk that was mounted since, or on a network.
    func watchStore(in core: inout CoordinatorCore) {
        guard core.watcher == nil, store.access.shared != nil else { return }
        let opening = Task.detached(priority: Self.priority) { [store] in store.changes }
        core.opening = opening
        core.watcher = Task.detached(priority: Self.priority) { [weak self, store, clock] in
            var start = clock.uptime
            var changes = await opening.value
            var endings = 0
            while !Task.isCancelled {
                // A stream that lasts shows that the store can report changes again.
                let lasting =
                    endings > 1
                    ? self?.wait(until: start + Self.polling.limit) { $0.watchChanged(isWatched: true) } : nil
                for await _ in changes { self?.send(.storeChanged) }
                lasting?.cancel()
                endings = clock.uptime - start < Self.polling.limit ? endings + 1 : 1
                // One stream ends where a disk is mounted; two in a row mean that the store cannot watch.
                if endings > 1 { self?.watchChanged(isWatched: false) }
                let pause = Self.polling.delay(afterFailures: endings)
                guard (try? await clock.sleep(until: clock.uptime + pause)) != nil else { return }
                start = clock.uptime
                changes = store.changes
                self?.send(.storeChanged)
            }
        }
    }

    private func watchChanged(isWatched: Bool) {
        let isNew = core.withLock { core in
            defer { core.isWatched = isWatched }
            return core.isWatched != isWatched
        }
        if isNew, !isWatched { observer?(.storeNotWatched(pause: Self.polling.limit)) }
    }
}
