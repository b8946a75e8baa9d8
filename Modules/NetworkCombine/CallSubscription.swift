#if canImport(Combine)
@preconcurrency import Combine
#elseif OpenCombine
@preconcurrency import OpenCombine
#endif

#if canImport(Combine) || OpenCombine
import Foundation
import NetworkCore

/// Performs one call for one subscriber, from its first demand on.
final class CallSubscription<Value: Sendable>: Subscription, @unchecked Sendable {  // `state` is under `lock`
    typealias Downstream = AnySubscriber<Value, NetworkError>

    private enum State {
        case waiting(Downstream)
        case calling(Downstream, Task<Void, Never>)
        case over
    }

    private let lock = NSLock()
    private var state: State
    private let call: @Sendable () async throws -> Value

    init(_ subscriber: Downstream, call: @escaping @Sendable () async throws -> Value) {
        state = .waiting(subscriber)
        self.call = call
    }

    func request(_ demand: Subscribers.Demand) {
        guard demand > .none else { return }
        lock.lock()
        defer { lock.unlock() }
        // There is one value only, so later demand changes nothing.
        guard case .waiting(let subscriber) = state else { return }
        state = .calling(subscriber, Task { await self.run() })
    }

    func cancel() {
        lock.lock()
        let before = state
        state = .over
        lock.unlock()
        if case .calling(_, let task) = before { task.cancel() }
    }

    private func run() async {
        let outcome: Result<Value, NetworkError>
        do {
            outcome = .success(try await call())
        } catch let error as NetworkError {
            outcome = .failure(error)
        } catch let error as CancellationError {
            outcome = .failure(NetworkError(.cancelled, cause: error))
        } catch {
            outcome = .failure(NetworkError(.transportFailed, cause: error))
        }
        // A subscriber that has cancelled receives nothing more.
        guard let subscriber = finish() else { return }
        switch outcome {
        case .success(let value):
            _ = subscriber.receive(value)
            subscriber.receive(completion: .finished)
        case .failure(let error):
            subscriber.receive(completion: .failure(error))
        }
    }

    private func finish() -> Downstream? {
        lock.lock()
        defer { lock.unlock() }
        guard case .calling(let subscriber, _) = state else { return nil }
        state = .over
        return subscriber
    }
}
#endif
