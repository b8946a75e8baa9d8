import AuthInterface
import ConcurrencyPrimitives

/// The server: calls and revocations.
extension TokenRefreshCoordinator {
    /// Calls the handler in a separate task: the caller that started the refresh may be cancelled (G7), and the
    /// response is kept even if the app releases the engine meanwhile.
    ///
    /// G28. Directly before it, the right to make the call is checked. What the handler writes with may check it again.
    func call(
        _ id: AttemptID, base: TokenBundle, _ request: TokenRefreshRequest, startBefore: Duration,
        in core: inout CoordinatorCore
    ) {
        let permit = StartPermit(until: startBefore, on: clock)
        var permitted = request
        permitted.startPermit = permit
        let task = Task.detached(priority: Self.priority) { [self, permitted] in
            let result: CallResult
            do {
                guard permit.handOver() else { throw TokenRefreshError(.unavailable, reason: "too late for a call") }
                result = .success(
                    try await HandlerCall.run(of: self) { [handler] in try await handler.refresh(permitted) }
                )
            } catch {
                result = .failure(.verdict(of: error))
            }
            self.core.withLock { _ = $0.calls.removeValue(forKey: id) }
            if case .failure(let error) = result, error.status == nil, permit.withdraw() == .notMade {
                send(.callNotMade(id, error))
            } else {
                send(.responded(id, base: base, result))
            }
        }
        core.calls[id] = (task, permit)
    }

    func revoke(_ bundle: TokenBundle, besideAnother: Bool, in core: inout CoordinatorCore) {
        guard let revocation, bundle.hasToken, !besideAnother || revocation.affectsRevokedSessionOnly else { return }
        let id = core.callers.nextNumber()
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
    func releaseKey(_ binding: TokenBinding, in core: inout CoordinatorCore) {
        guard let handler = handler as? any TokenBindingHandler else { return }
        let id = core.callers.nextNumber()
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
        let end = Race<Result<Void, any Error>>()
        Task {
            for revocation in revocations { await revocation.value }
            end.end(.success(()))
        }
        try? await end.valueUnlessCancelled()
    }
}
