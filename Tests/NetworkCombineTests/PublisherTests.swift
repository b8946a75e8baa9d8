#if canImport(Combine)
@preconcurrency import Combine
#elseif OpenCombine
@preconcurrency import OpenCombine
#endif

#if canImport(Combine) || OpenCombine
import AuthTesting
import NetworkCombine
import NetworkCore
import NetworkTesting
import Testing

@Suite("Publishers over NetworkService", .timeLimit(.minutes(10)))
struct PublisherTests {
    let network = StubNetworkService()
    let call = Endpoint<Int>.get("number")

    /// The values and error of a publisher, from subscription to completion.
    func outcome<Value: Sendable>(
        of publisher: AnyPublisher<Value, NetworkError>
    ) async -> (values: [Value], error: NetworkError?) {
        let subscriber = Collector<Value>()
        return await withCheckedContinuation { continuation in
            subscriber.onCompletion { continuation.resume(returning: $0) }
            publisher.subscribe(subscriber)
        }
    }

    @Test func `a publisher delivers one value and finishes`() async {
        network.on(call, return: 7)
        let (values, error) = await outcome(of: network.publisher(for: call))
        #expect(values == [7])
        #expect(error == nil)
    }

    @Test func `a publisher fails with the error of the call`() async {
        network.on(call, throw: NetworkError(.timedOut))
        let (values, error) = await outcome(of: network.publisher(for: call))
        #expect(values.isEmpty)
        #expect(error?.code == .timedOut)
    }

    @Test func `a call that the service cancels fails the publisher`() async {
        network.on(call, throw: CancellationError())
        #expect(await outcome(of: network.publisher(for: call)).error?.code == .cancelled)
    }

    @Test func `each subscriber starts a call of its own with its first demand`() async {
        network.on(call, return: 1)
        network.on(call, return: 2)
        let publisher = network.publisher(for: call)
        #expect(network.log.isEmpty)
        let first = await outcome(of: publisher)
        let second = await outcome(of: publisher)
        #expect(first.values + second.values == [1, 2])
        #expect(network.log.count == 2)
    }

    @Test func `cancelling the subscription cancels the call`() async {
        let gate = Gate()
        let cancelled = Gate(isOpen: true)
        network.on(call) {
            do {
                try await gate.passUnlessCancelled()
            } catch {
                await cancelled.pass()
                throw error
            }
            return 7
        }
        let subscription = network.publisher(for: call).sink(
            receiveCompletion: { _ in Issue.record("a cancelled subscription received a completion") },
            receiveValue: { _ in Issue.record("a cancelled subscription received a value") }
        )
        await gate.arrivals(atLeast: 1)
        subscription.cancel()
        await cancelled.arrivals(atLeast: 1)
    }
}

/// A subscriber with unlimited demand that reports its completion.
private final class Collector<Value: Sendable>: Subscriber, @unchecked Sendable {  // one call at a time, by contract
    typealias Input = Value
    typealias Failure = NetworkError
    typealias Outcome = (values: [Value], error: NetworkError?)

    private var values: [Value] = []
    private var completion: (Outcome) -> Void = { _ in }

    func onCompletion(_ completion: @escaping (Outcome) -> Void) {
        self.completion = completion
    }

    func receive(subscription: any Subscription) {
        subscription.request(.unlimited)
    }

    func receive(_ input: Value) -> Subscribers.Demand {
        values.append(input)
        return .none
    }

    func receive(completion end: Subscribers.Completion<NetworkError>) {
        if case .failure(let error) = end {
            completion((values, error))
        } else {
            completion((values, nil))
        }
    }
}
#endif
