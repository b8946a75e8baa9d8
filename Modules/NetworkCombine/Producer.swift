#if canImport(Combine)
@preconcurrency import Combine
#elseif OpenCombine
@preconcurrency import OpenCombine
#endif

#if canImport(Combine) || OpenCombine
import Foundation

/// Publishes the values of an async function, which runs once for each subscriber.
struct Producer<Output: Sendable, Failure: Error>: Publisher {
    /// Sends the values to the subscriber. Each call suspends until the subscriber has demanded and received the value.
    typealias Produce = @Sendable (_ send: @Sendable (Output) async throws -> Void) async throws -> Void

    let delivery: Delivery
    /// The completion for an error of the function.
    let completion: @Sendable (any Error) -> Subscribers.Completion<Failure>
    /// Makes the function for one subscriber, when it subscribes.
    let start: @Sendable () -> Produce

    func receive<Downstream: Subscriber>(
        subscriber: Downstream
    ) where Downstream.Input == Output, Downstream.Failure == Failure {
        let subscription = ProducerSubscription(AnySubscriber(subscriber), of: self)
        subscriber.receive(subscription: subscription)
    }
}

/// Runs the function for one subscriber, from its first demand on. Cancelling the subscription cancels the task.
private final class ProducerSubscription<Output: Sendable, Failure: Error>: Subscription,
    @unchecked Sendable  // every access to `state` holds `lock`
{
    typealias Downstream = AnySubscriber<Output, Failure>

    private enum Phase {
        case waiting(Downstream)
        case running(Downstream, Task<Void, Never>)
        case over
    }

    private struct State {
        var phase: Phase
        var demand = Subscribers.Demand.none
        /// The value that waits for demand.
        var waiter: CheckedContinuation<Void, any Error>?
    }

    private let lock = NSLock()
    private var state: State
    // Not the producer: what it makes its function of (a session) must not live as long as the subscription.
    private let delivery: Delivery
    private let completion: @Sendable (any Error) -> Subscribers.Completion<Failure>
    private let produce: Producer<Output, Failure>.Produce

    init(_ subscriber: Downstream, of producer: Producer<Output, Failure>) {
        state = State(phase: .waiting(subscriber))
        (delivery, completion) = (producer.delivery, producer.completion)
        produce = producer.start()
    }

    func request(_ demand: Subscribers.Demand) {
        guard demand > .none else { return }
        lock.lock()
        state.demand += demand
        if case .waiting(let subscriber) = state.phase {
            state.phase = .running(subscriber, Task { await self.run() })
        }
        let waiter = takeWaiterWithDemand()
        lock.unlock()
        waiter?.resume()
    }

    func cancel() {
        lock.lock()
        let (phase, waiter) = (state.phase, state.waiter)
        (state.phase, state.waiter) = (.over, nil)
        lock.unlock()
        waiter?.resume(throwing: CancellationError())
        if case .running(_, let task) = phase { task.cancel() }
    }

    private func run() async {
        let end: Subscribers.Completion<Failure>
        do {
            try await produce { value in try await self.send(value) }
            end = .finished
        } catch {
            end = completion(error)
        }
        await deliver { subscription in
            guard let subscriber = subscription.subscriber(ending: true) else { return }
            subscriber.receive(completion: end)
        }
    }

    private func send(_ value: Output) async throws {
        try await withCheckedThrowingContinuation { (waiter: CheckedContinuation<Void, any Error>) in
            lock.lock()
            guard case .running = state.phase else {
                lock.unlock()
                waiter.resume(throwing: CancellationError())
                return
            }
            state.waiter = waiter
            let ready = takeWaiterWithDemand()
            lock.unlock()
            ready?.resume()
        }
        await deliver { subscription in
            guard let subscriber = subscription.subscriber(ending: false) else { return }
            subscription.request(subscriber.receive(value))
        }
    }

    /// Waits until the work has run, so that the next value cannot overtake this one.
    private func deliver(_ work: @escaping @Sendable (ProducerSubscription) -> Void) async {
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            delivery.run {
                work(self)
                done.resume()
            }
        }
    }

    /// The subscriber, unless it has cancelled.
    private func subscriber(ending: Bool) -> Downstream? {
        lock.lock()
        defer { lock.unlock() }
        guard case .running(let subscriber, _) = state.phase else { return nil }
        if ending { state.phase = .over }
        return subscriber
    }

    /// Call it with the lock.
    private func takeWaiterWithDemand() -> CheckedContinuation<Void, any Error>? {
        guard state.demand > .none, let waiter = state.waiter else { return nil }
        state.waiter = nil
        state.demand -= 1
        return waiter
    }
}
#endif
