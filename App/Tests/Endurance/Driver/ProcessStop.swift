import ArgumentParser
import AuthInterface
import Foundation
import NIOConcurrencyHelpers
import NetworkCore
import UnixSignals

/// Where a process stops itself (SIGSTOP), once, as a system freezes an app. It prints `stopping` before it does.
enum StopPoint: String, ExpressibleByArgument {
    /// It has the lease of the store, and has recorded no intent.
    case lease
    /// Its intent is recorded, and no byte of the call is written.
    case call
    /// At ``call`` the system is about to suspend it, and it has given the lease up.
    case suspensionBeforeCall
    /// At SIGUSR1 the system is about to suspend it, and it has given the lease up.
    case suspension
}

final class ProcessStop: Sendable {
    private let point: NIOLockedValueBox<StopPoint?>
    let activity = StoppingActivity()

    /// - Parameter point: Where to stop; `nil` for nowhere.
    init(at point: StopPoint?) async {
        self.point = NIOLockedValueBox(point)
        guard point == .suspension else { return }
        let signals = await UnixSignalsSequence(trapping: .sigusr1)
        Task { [activity] in
            for await _ in signals { await activity.expire() }
        }
    }

    fileprivate func reach(_ reached: StopPoint) async {
        let next = point.withLockedValue { point -> StopPoint? in
            guard point == reached || (point == .suspensionBeforeCall && reached == .call) else { return nil }
            defer { point = nil }
            return point
        }
        switch next {
        case .suspensionBeforeCall: await activity.expire()
        case .lease, .call: stopThisProcess()
        case .suspension, nil: return
        }
    }
}

/// Stops all threads. It returns when another process continues this one.
private func stopThisProcess() {
    note("stopping")
    raise(SIGSTOP)
}

/// Activities that expire together. Once the last one has ended then, the process is stopped.
final class StoppingActivity: ExpiringActivity {
    private struct State {
        var nextID = 0
        var running: [Int: @Sendable () -> Void] = [:]
        /// Waits for the end of the activities that have expired.
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = NIOLockedValueBox(State())

    func begin(_: String, onExpiry: @escaping @Sendable () -> Void) -> ExpiringActivityToken {
        let id = state.withLockedValue { state in
            state.nextID += 1
            state.running[state.nextID] = onExpiry
            return state.nextID
        }
        return ExpiringActivityToken { [self] in
            let waiter = state.withLockedValue { state -> CheckedContinuation<Void, Never>? in
                state.running[id] = nil
                guard state.running.isEmpty else { return nil }
                defer { state.waiter = nil }
                return state.waiter
            }
            guard let waiter else { return }
            stopThisProcess()
            waiter.resume()
        }
    }

    /// Asks for the end of all activities, and waits until the process was stopped and continues.
    func expire() async {
        await withCheckedContinuation { continuation in
            let expired = state.withLockedValue { state in
                precondition(!state.running.isEmpty, "an activity runs while the lease is held")
                state.waiter = continuation
                return Array(state.running.values)
            }
            for onExpiry in expired { onExpiry() }
        }
    }
}

/// A shared store; the process stops when it has got the lease.
struct StoppingTokenStore<Base: SharedTokenStore>: SharedTokenStore {
    let base: Base
    let stop: ProcessStop

    func read() async throws -> StoredSession { try await base.read() }

    func update(_ change: @escaping StoreChange) async throws { try await base.update(change) }

    func lease(
        waitingAtMost limit: Duration, whileHeld report: @escaping @Sendable (LeaseHolder) -> Void
    ) async throws -> any TokenStoreLease {
        let lease = try await base.lease(waitingAtMost: limit, whileHeld: report)
        await stop.reach(.lease)
        return lease
    }

    var changes: AsyncStream<Void> { base.changes }
}

/// A transport; the process stops before a refresh is connected.
struct StoppingTransport: HTTPTransport {
    let base: any HTTPTransport
    let stop: ProcessStop

    func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        if request.purpose == .refresh { await stop.reach(.call) }
        return try await base.perform(request)
    }

    var endsInTime: Bool { base.endsInTime }
}
