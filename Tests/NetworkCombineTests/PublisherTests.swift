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

    /// What a publisher delivers, from subscription to completion.
    func outcome<Value: Sendable>(
        of publisher: AnyPublisher<Value, NetworkError>
    ) async -> (values: [Value], error: NetworkError?) {
        let subscriber = Collector<Value>()
        return await withCheckedContinuation { continuation in
            subscriber.onCompletion { continuation.resume(returning: $0) }
            publisher.subscribe(subscriber)
        }
    }

    @Test func deliversOneValueAndFinishes() async {
        network.on(call, return: 7)
        let (values, error) = await outcome(of: network.publisher(for: call))
        #expect(values == [7])
        #expect(error == nil)
    }

    @Test func deliversTheErrorOfTheCall() async {
        network.on(call, throw: NetworkError(.timedOut))
        let (values, error) = await outcome(of: network.publisher(for: call))
        #expect(values.isEmpty)
        #expect(error?.code == .timedOut)
    }

    @Test func aCallGivenUpByTheServiceIsNoSilence() async {
        network.on(call, throw: CancellationError())
        #expect(await outcome(of: network.publisher(for: call)).error?.code == .cancelled)
    }

    @Test func sendsNothingBeforeSomebodyAsksAndOnceForEachWhoDoes() async {
        network.on(call, return: 1)
        network.on(call, return: 2)
        let publisher = network.publisher(for: call)
        #expect(network.log.isEmpty)
        let first = await outcome(of: publisher)
        let second = await outcome(of: publisher)
        #expect(first.values + second.values == [1, 2])
        #expect(network.log.count == 2)
    }

    @Test func cancellingTheSubscriptionCancelsTheCall() async {
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
            receiveCompletion: { _ in Issue.record("a cancelled subscription heard of the end") },
            receiveValue: { _ in Issue.record("a cancelled subscription got a value") }
        )
        await gate.arrivals(atLeast: 1)
        subscription.cancel()
        await cancelled.arrivals(atLeast: 1)
    }
}

/// A subscriber that asks for everything and says when it is done.
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
