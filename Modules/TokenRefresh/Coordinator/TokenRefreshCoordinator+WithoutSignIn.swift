import AuthInterface
import ConcurrencyPrimitives

/// Sessions that no user signs in, as the handler needs no refresh token (G22).
extension TokenRefreshCoordinator {
    /// Begins a session in place of one that has ended, and starts the refresh for which the first request would wait.
    func restoreWithoutSignIn(after restored: SessionState) async throws -> SessionState {
        var state = restored
        if case .signedOut = state {
            let limit = policy.storeLimit
            let begun = try await clock.withDeadline(clock.uptime + limit) { [store] in
                await store.begin(after: store.readOrder(), isAsked: true)
            }
            try Task.checkCancellation()
            if case .failure(let error) = begun?.result ?? .failure(.noResponse(within: limit)) {
                throw AuthenticationError(.storeUnavailable, cause: error)
            }
            state = try await response { .requested(.restore, $0) }.state
        }
        send(.requested(.token, core.withLock { $0.callers.nextID() }))
        return state
    }
}

extension JournaledStore {
    /// Begins a session where there is none, and returns what the store then holds. `isAsked`: also where one ended.
    ///
    /// It begins in the store, before the machine sees it, and has no token yet. Its ordinal is the next one after all
    /// that was read: processes that begin at once have the same, so that the first session which is stored stays, and
    /// the others find it (rule 10). A sign-in of a user, which is dated, comes after it.
    func begin(after reading: StoreReading, isAsked: Bool = false) async -> StoreReading {
        switch (reading.result, reading.ending) {
        case (.success(.empty), nil), (.success(.empty), .lost?): break
        case (.success(.empty), _), (.success(.tombstone), _): if !isAsked { return reading }
        case (.success(.active), _), (.failure, _): return reading
        }
        let last = [(try? reading.result.get())?.ordinal, reading.noted].compactMap(\.self).max()
        let bundle = TokenBundle(
            accessToken: "", refreshToken: nil, signedInAt: clock.date, ordinal: (last ?? .unknown).next)
        var begun = StoreReading(result: .success(.active(bundle)), noted: reading.noted)
        switch await write(.bundle(bundle, over: .lower(ends: last)), noted: {}) {
        case .written: break
        case .superseded(let found): begun.result = .success(found)
        case .failed(let error): begun.result = .failure(error)
        }
        return begun
    }
}
