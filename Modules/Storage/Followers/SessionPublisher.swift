import AuthInterface
import ConcurrencyPrimitives

/// Publishes what an owner's store holds, one publication after the other.
///
/// Processes of the owner publish without a common lock, which one that is stopped would keep. Each reads the place
/// first, then the owner's store, and writes only if the place is still as it was read: nothing that was published
/// later is replaced by what the store said before. After each write both are read again.
final class SessionPublisher: Sendable {
    private struct State {
        /// How often a publication was asked for.
        var wanted = 0
        var isRunning = false
        var isStopped = false
        var failures = 0
        var expiry: KnownExpiry?
        /// The end that the owner's store has not taken.
        var ending: SessionTombstone?
        /// The next look: when the token expires, or after a failure.
        var timer: Task<Void, Never>?
        var waiters: [Race<Bool>] = []
    }

    /// How often a publication is made again at once, because the owner's store or the place has changed meanwhile.
    private static let repetitionLimit = 10
    /// How long one read or write may take.
    private static let deadline: Duration = .seconds(10)
    private static let backoff = Backoff(base: .seconds(1), limit: .seconds(30), floor: .milliseconds(500))

    let place: any SharedTokenStore
    private let store: any SharedTokenStore
    private let clock: any TimeSource
    private let onFailure: (@Sendable (TokenStoreError) -> Void)?
    private let state = Locked(State())

    init(
        from store: any SharedTokenStore, to place: any SharedTokenStore, clock: any TimeSource,
        onFailure: (@Sendable (TokenStoreError) -> Void)?
    ) { (self.store, self.place, self.clock, self.onFailure) = (store, place, clock, onFailure) }

    /// Publishes what the store holds, after a publication under way. It returns at once.
    func publish() {
        let mustStart = state.withLock { state in
            state.wanted += 1
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if mustStart { Task.detached { await self.run() } }
    }

    /// Publishes an end that the owner's store has not taken, until it holds what comes after it.
    func publish(_ ending: SessionTombstone) {
        state.withLock { if $0.ending?.isReplaced(by: ending) ?? true { $0.ending = ending } }
        publish()
    }

    /// Sets no timer any more. A publication under way is completed.
    func stop() {
        let timer = state.withLock { state in
            state.isStopped = true
            return state.timer
        }
        timer?.cancel()
    }

    /// Waits until no publication is under way. Returns whether the last one has succeeded, within the limit.
    func settle(within limit: Duration) async -> Bool {
        let race = Race<Bool>()
        let isRunning = state.withLock { state in
            if state.isRunning { state.waiters.append(race) } else { race.end(state.failures == 0) }
            return state.isRunning
        }
        guard isRunning else { return race.outcome ?? false }
        let timer = Task { [clock] in
            try await clock.sleep(until: clock.uptime + limit)
            race.end(false)
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await race.value()
        } onCancel: {
            race.end(false)
        }
    }

    private func run() async {
        while true {
            let wanted = state.withLock { $0.wanted }
            let outcome: Result<Duration?, TokenStoreError>
            do {
                outcome = .success(try await publishNow())
            } catch let error as TokenStoreError {
                outcome = .failure(error)
            } catch {
                let reason = "the publication failed with \(type(of: error))"
                outcome = .failure(TokenStoreError(.unavailable, reason: reason, cause: error))
            }
            if end(outcome, wanted: wanted) { return }
        }
    }

    /// Returns whether no other publication was asked for.
    private func end(_ outcome: Result<Duration?, TokenStoreError>, wanted: Int) -> Bool {
        let (isDone, waiters, timer) = state.withLock { state -> (Bool, [Race<Bool>], Task<Void, Never>?) in
            let earlier = state.timer
            switch outcome {
            case .success(let end):
                state.failures = 0
                state.timer = end.flatMap { state.isStopped ? nil : wake(at: $0) }
            case .failure:
                state.failures += 1
                let pause = Self.backoff.delay(afterFailures: state.failures)
                state.timer = state.isStopped ? nil : wake(at: clock.uptime + pause)
            }
            guard state.wanted == wanted else { return (false, [], earlier) }
            defer { state.waiters = [] }
            state.isRunning = false
            return (true, state.waiters, earlier)
        }
        timer?.cancel()
        var isPublished = true
        if case .failure(let error) = outcome {
            isPublished = false
            onFailure?(error)
        }
        for waiter in waiters { waiter.end(isPublished) }
        return isDone
    }

    private func wake(at instant: Duration) -> Task<Void, Never> {
        Task.detached { [weak self, clock] in
            guard (try? await clock.sleep(until: instant)) != nil else { return }
            self?.publish()
        }
    }

    /// Reads the place and the store, and writes the place, until it holds what it is to hold. Returns when the
    /// published token expires.
    private func publishNow() async throws -> Duration? {
        try checkItems()
        for _ in 0..<Self.repetitionLimit {
            let found = try? await limited { [place] in try await place.read() }
            guard found?.bundle?.refreshToken == nil else {
                throw TokenStoreError(
                    .insecure, reason: "the place for followers holds a refresh token: publish in a store of its own")
            }
            let publication = try await current()
            guard let content = publication.replacement(for: found) else { return publication.end }
            try await limited { [place] in try await place.update { (try? $0.get()) == found ? content : nil } }
        }
        throw TokenStoreError(.busy, reason: "the owner's store changes faster than it can be published")
    }

    /// A query without an access group finds the items of all groups: two of one name would be taken for each other.
    private func checkItems() throws {
        guard let owner = (store as? SharedKeychainTokenStore)?.location,
            let place = (place as? SharedKeychainTokenStore)?.location,
            owner.covers(place) || place.covers(owner)
        else { return }
        throw TokenStoreError(.insecure, reason: "the followers' Keychain item needs a service of its own")
    }

    /// What is to be published: an end that the store has not taken, also where the store cannot be read.
    private func current() async throws -> Publication {
        let ending = state.withLock { $0.ending }
        let stored: StoredSession
        do {
            stored = try await limited { [store] in try await store.read() }
        } catch {
            guard let ending else { throw error }
            return Publication(of: ending)
        }
        return state.withLock { state in
            if let ending {
                guard ending.isOutranked(by: stored) else { return Publication(of: ending) }
                if state.ending == ending { state.ending = nil }
            }
            if case .active(let bundle) = stored, state.expiry?.isOf(bundle) != true {
                state.expiry = KnownExpiry(bundle, clock)
            }
            return Publication(of: stored, after: state.expiry, clock)
        }
    }

    private func limited<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        guard let value = try await clock.withDeadline(clock.uptime + Self.deadline, work) else {
            throw TokenStoreError(.unavailable, reason: "no response within \(Self.deadline.inWords)")
        }
        return value
    }
}
