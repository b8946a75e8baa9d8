#if canImport(Combine) || OpenCombine
import AuthInterface
import AuthTesting
import ContractTesting
import Foundation
import NetworkCombine
import NetworkCore
import NetworkTesting
import TestSupport
import Testing
import TokenRefresh

@Suite(.timeLimit(.minutes(10)))
struct PublisherTests {
    let network = StubNetworkService()
    let call = Endpoint<Int>.get("number")

    /// The values and error of a publisher, from subscription to completion.
    func outcome<Value: Sendable>(
        of publisher: AnyPublisher<Value, NetworkError>
    ) async -> (values: [Value], error: NetworkError?) {
        let values = Recorder<Value>()
        var subscription: AnyCancellable?
        let error = await withCheckedContinuation { continuation in
            subscription = publisher.sink { completion in
                if case .failure(let error) = completion {
                    continuation.resume(returning: error as NetworkError?)
                } else {
                    continuation.resume(returning: nil)
                }
            } receiveValue: { value in
                values.record(value)
            }
        }
        subscription?.cancel()
        return (values.values, error)
    }

    @Test(arguments: [
        (NetworkError(.timedOut) as any Error, NetworkError.Code.timedOut), (CancellationError(), .cancelled),
    ])
    func `a publisher fails with the error of the call`(error: any Error, code: NetworkError.Code) async {
        network.on(call, throw: error)
        let (values, error) = await outcome(of: network.publisher(for: call))
        #expect(values.isEmpty)
        #expect(error?.code == code)
    }

    @Test func `each subscriber starts a call of its own with its first demand`() async {
        network.on(call, return: 1)
        network.on(call, return: 2)
        let publisher = network.publisher(for: call)
        #expect(network.calls.isEmpty)
        let (first, second) = (await outcome(of: publisher), await outcome(of: publisher))
        #expect(first.values == [1] && second.values == [2] && first.error == nil)
        #expect(network.calls.count == 2)
    }

    @Test func `cancelling the subscription cancels the call`() async throws {
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
        try await gate.arrivals(atLeast: 1)
        subscription.cancel()
        try await cancelled.arrivals(atLeast: 1)
    }

    @MainActor
    @Test func `a plain sink in main-actor code receives its value on the main thread`() async {
        network.on(call, return: 7)
        var received: [Int] = []
        var subscription: AnyCancellable?
        await withCheckedContinuation { continuation in
            subscription = network.publisher(for: call).sink { _ in
                MainActor.assertIsolated()
                continuation.resume()
            } receiveValue: { value in
                received.append(value)
            }
        }
        #expect(received == [7])
        subscription?.cancel()
    }

    @MainActor
    @Test func `the model of the documentation shows the number, and the failure`() async throws {
        network.on(call, return: 7)
        let model = NumberModel()
        model.load(from: network)
        try await until { model.number != nil }
        #expect(model.number == 7)
        network.on(call, throw: NetworkError(.timedOut))
        model.load(from: network)
        try await until { model.message != nil }
    }

    @Test func `another scheduler may deliver`() async {
        network.on(call, return: 2)
        let immediate = Delivery.scheduler(ImmediateScheduler.shared)
        #expect(await outcome(of: network.publisher(for: call, on: immediate)).values == [2])
    }

    @Test func `values are delivered in order on a concurrent queue`() async {
        let queue = DispatchQueue(label: "deliveries", attributes: .concurrent)
        let service = UploadDouble(parts: 200)
        let (events, error) = await outcome(of: service.progressPublisher(for: call, on: .queue(queue)))
        #expect(error == nil)
        #expect(events.last == .response(7))
        let parts = events.compactMap { event in if case .progress(let part) = event { part.completed } else { nil } }
        #expect(!parts.isEmpty && parts == parts.sorted())
    }

    @Test func `no more is delivered than was demanded, and the response always`() async throws {
        let service = UploadDouble(parts: 50)
        let subscriber = SteppingSubscriber<CallEvent<Int>, NetworkError>()
        service.progressPublisher(for: call, on: .anyThread).subscribe(subscriber)
        subscriber.demand(1)
        var events: [CallEvent<Int>] = []
        while true {
            let event = try #require(await subscriber.next())
            events.append(event)
            #expect(subscriber.received == events.count, "one value for one demand")
            if case .response = event { break }
            subscriber.demand(1)
        }
        #expect(events.last == .response(7))
        try await subscriber.ended.arrivals(atLeast: 1)
    }

    @Test func `a subscription that is cancelled while a value waits for demand ends its call`() async throws {
        let service = UploadDouble(parts: 1, endless: true)
        let subscriber = SteppingSubscriber<CallEvent<Int>, NetworkError>()
        service.progressPublisher(for: call, on: .anyThread).subscribe(subscriber)
        subscriber.demand(1)
        _ = await subscriber.next()
        subscriber.cancel()
        try await service.finished.arrivals(atLeast: 1)
        #expect(subscriber.received == 1)
    }

    @Test func `the states of a session are published, and keep it until the subscription ends`() async throws {
        var session: TokenRefreshCoordinator? = TokenRefreshCoordinator(
            store: RecordingTokenStore(), handler: ScriptedRefreshHandler())
        let subscriber = SteppingSubscriber<SessionState, Never>()
        session?.statePublisher(on: .anyThread).subscribe(subscriber)
        subscriber.demand(2)
        #expect(await subscriber.next() == .unknown)
        _ = try await session?.restore()
        #expect(await subscriber.next() == .signedOut(.never))
        try await session?.signIn(TokenRefreshResult(accessToken: "access-1", refreshToken: "refresh-1"))
        #expect(subscriber.received == 2, "the third state waits for demand")
        subscriber.demand(5)
        guard case .signedIn = await subscriber.next() else {
            Issue.record("the newest state was not delivered")
            return
        }
        weak let kept = session
        session = nil
        #expect(kept != nil)
        subscriber.cancel()
    }
}

/// A service whose calls report their progress in parts, and return 7.
private struct UploadDouble: NetworkService {
    let parts: Int64
    var endless = false
    let finished = Gate(isOpen: true)

    func send<Response>(_ endpoint: Endpoint<Response>, options: RequestOptions) async throws -> Response {
        for part in 1...parts {
            options.progress?(TransferProgress(completed: part, total: parts))
            await Task.yield()
        }
        if endless {
            do {
                try await Gate().passUnlessCancelled()
            } catch {
                await finished.pass()
                throw error
            }
        }
        guard let response = 7 as? Response else { throw NetworkError(.decodingFailed) }
        return response
    }

    func stream<Response>(
        _ endpoint: Endpoint<Response>, options: RequestOptions
    ) async throws -> HTTPTransportResponse {
        throw NetworkError(.transportFailed)
    }
}

/// A subscriber that demands when the test says so.
private final class SteppingSubscriber<Input: Sendable, Failure: Error>: Subscriber, @unchecked Sendable {  // `state`
    private struct State {
        var subscription: (any Subscription)?
        var count = 0
    }

    let ended = Gate(isOpen: true)
    private let lock = NSLock()
    private var state = State()
    private let values: AsyncStream<Input>
    private let continuation: AsyncStream<Input>.Continuation

    init() {
        (values, continuation) = AsyncStream.makeStream(of: Input.self)
    }

    var received: Int { lock.withLock { state.count } }

    func next() async -> Input? {
        for await value in values { return value }
        return nil
    }

    func demand(_ count: Int) { lock.withLock { state.subscription }?.request(.max(count)) }

    func cancel() { lock.withLock { state.subscription }?.cancel() }

    func receive(subscription: any Subscription) { lock.withLock { state.subscription = subscription } }

    func receive(_ input: Input) -> Subscribers.Demand {
        lock.withLock { state.count += 1 }
        continuation.yield(input)
        return .none
    }

    func receive(completion end: Subscribers.Completion<Failure>) {
        Task { await ended.pass() }
    }
}
#endif
