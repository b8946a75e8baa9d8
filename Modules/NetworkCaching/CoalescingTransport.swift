import AuthInterface
import ConcurrencyPrimitives
import Foundation
public import NetworkCore

/// Sends equal `GET` requests that are under way at the same time once.
///
/// ```swift
/// let client = NetworkClient(baseURL: url, transport: CoalescingTransport(AsyncHTTPClientTransport()))
/// ```
///
/// Requests are equal if their URL, their fields, their idle timeout and their session are. The fields `traceparent`,
/// `tracestate` and `X-Request-ID` do not count: they differ for each request, and those of the first one are sent.
/// Each caller has its own deadline and cancellation: a caller that leaves does not affect the others, and the last one
/// to leave cancels the exchange.
///
/// Streams and refreshes of tokens are never joined. A request that starts after an unsafe one has ended does not join
/// an exchange from before, which may not see the change.
///
/// The body is read into memory before the callers receive it. A caller whose time to the head ends meanwhile receives
/// the head, and the body when it is there; the client ends its wait for the body. The exchange itself has no limit but
/// that of silence. A response of more than the limit, an event stream and JSON lines are not shared: the first caller
/// receives it, and each other one sends its own request in the time that it has left.
///
/// A caller that joins can receive a response from before its call. Its `Age` says so, as that of a cache does (RFC
/// 9111 §5.1), and its `Date` sets no clock (G19).
public final class CoalescingTransport: HTTPTransport {
    private struct Key: Hashable {
        let url: URL
        let headers: HTTPHeaders
        let session: SessionID?
        let idleTimeout: Duration
        /// The number of unsafe requests that had ended.
        let generation: Int
    }

    /// The fields that differ for each request and do not change its response, in lower case.
    private static let uncomparedFields: Set = ["traceparent", "tracestate", "x-request-id"]

    private enum Outcome: Sendable {
        case whole(HTTPTransportResponse)
        /// For one caller only.
        case stream(HTTPTransportResponse)
        case notShared

        func aged(by age: Duration) -> Outcome {
            switch self {
            case .whole(let response): .whole(response.aged(by: age))
            case .stream(let response): .stream(response.aged(by: age))
            case .notShared: .notShared
            }
        }
    }

    /// A caller that waits.
    private struct Waiter {
        enum Wait {
            case response(Race<Result<Outcome, any Error>>)
            /// It has the head, and waits for the body.
            case body(AsyncThrowingStream<HTTPBody, any Error>.Continuation)
        }

        let number: Int
        var wait: Wait

        func resume(with result: Result<Outcome, any Error>) {
            switch (wait, result) {
            case (.response(let response), _): response.end(result)
            case (.body(let bodies), .success(.whole(let response))),
                (.body(let bodies), .success(.stream(let response))):
                bodies.yield(response.body)
                bodies.finish()
            case (.body(let bodies), .success(.notShared)):
                let reason = "the response is too large to be shared, and its time was up"
                bodies.finish(throwing: HTTPTransportError(.timedOut, reason: reason, waitedFor: .responseBody))
            case (.body(let bodies), .failure(let error)): bodies.finish(throwing: error)
            }
        }
    }

    private struct Flight {
        var waiters: [Waiter] = []
        let number: Int
        let clock: any TimeSource
        /// The response without its body, which is read here, and the uptime of its receipt. `nil`: the head has not
        /// arrived.
        var received: (response: HTTPTransportResponse, at: Duration)?
        var task: Task<Void, Never>?

        /// The age of the response for a caller: none for the one whose request it answers.
        func age(for waiter: Waiter) -> Duration {
            guard waiter.number != number, let received else { return .zero }
            return clock.uptime - received.at
        }
    }

    private struct State {
        var flights: [Key: Flight] = [:]
        var lastNumber = 0
        /// Changes when an unsafe request ends, successful or not.
        var generation = 0
    }

    private let next: any HTTPTransport
    private let limit: Int
    private let state = Locked(State())

    /// Creates a transport. Bodies up to the maximum are shared, by default 4 MiB.
    public init(_ next: any HTTPTransport, maximumSharedSize: Int = 4 * 1_024 * 1_024) {
        self.next = next
        limit = maximumSharedSize
    }

    /// Joins an equal request that is under way, or sends this one. Of requests that are joined, the first one's events
    /// are reported.
    ///
    /// - Throws: As the transport underneath; `CancellationError` at once when the task is cancelled.
    public func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        guard request.head.method == .get, request.body.isEmpty, request.purpose == .call, !request.asksForStream else {
            defer { if !request.head.method.isSafe { state.withLock { $0.generation += 1 } } }
            return try await next.perform(request)
        }
        let startedAt = request.context.clock.uptime
        switch try await wait(for: request, key(of: request)) {
        case .whole(let response), .stream(let response): return response
        case .notShared:
            var own = request
            let waited = request.context.clock.uptime - startedAt
            for time in [\HTTPTransportRequest.timeToHead, \.timeToEnd] {
                own[keyPath: time] = request[keyPath: time].map { max(.zero, $0 - waited) }
            }
            return try await next.perform(own)
        }
    }

    /// The number of callers that wait for a response, or for the body of one, together with others or alone.
    var waiting: Int { state.withLock { $0.flights.values.map(\.waiters.count).reduce(0, +) } }

    /// Never: the time limits of one caller are not those of an exchange that others have joined.
    public var endsInTime: Bool { false }

    private func key(of request: HTTPTransportRequest) -> Key {
        var headers = request.head.headers
        headers.removeAll { Self.uncomparedFields.contains($0.name.lowercased()) }
        return Key(
            url: request.head.url, headers: headers, session: request.context.session,
            idleTimeout: request.idleTimeout, generation: state.withLock { $0.generation })
    }

    private func wait(for request: HTTPTransportRequest, _ key: Key) async throws -> Outcome {
        try Task.checkCancellation()
        let response = Race<Result<Outcome, any Error>>()
        let (number, starts) = state.withLock { state in
            state.lastNumber += 1
            let (number, isFirst) = (state.lastNumber, state.flights[key] == nil)
            state.flights[key, default: Flight(number: number, clock: request.context.clock)].waiters.append(
                Waiter(number: number, wait: .response(response)))
            return (number, isFirst)
        }
        // Not before: a timer that finds no caller ends without effect.
        let timer = startTimer(request, key, number)
        defer { timer?.cancel() }
        if starts { start(request, key, number) }
        return try await withTaskCancellationHandler {
            await response.value()
        } onCancel: {
            leave(key, number, because: CancellationError())
        }.get()
    }

    private func startTimer(_ request: HTTPTransportRequest, _ key: Key, _ number: Int) -> Task<Void, any Error>? {
        let clock = request.context.clock
        return request.timeToHead.map { limit in
            Task { [end = clock.uptime + limit] in
                try await clock.sleep(until: end)
                if !handOverHead(key, number) {
                    leave(key, number, because: HTTPTransportError.waited(for: .responseHead, atMost: limit))
                }
            }
        }
    }

    private func start(_ request: HTTPTransportRequest, _ key: Key, _ number: Int) {
        var request = request
        (request.timeToHead, request.timeToEnd) = (nil, nil)
        let task = Task { [request] in
            do {
                let response = try await next.perform(request)
                var bodiless = response
                bodiless.body = .none
                let received = (response: bodiless, at: request.context.clock.uptime)
                state.withLock { if $0.flights[key]?.number == number { $0.flights[key]?.received = received } }
                let (outcome, isForAll) = try await share(response)
                finish(key, number, .success(outcome), isForAll: isForAll)
            } catch {
                finish(key, number, .failure(error), isForAll: true)
            }
        }
        let isEnded = state.withLock { state in
            guard state.flights[key]?.number == number else { return true }
            state.flights[key]?.task = task
            return false
        }
        // Finished already, or all callers have left.
        if isEnded { task.cancel() }
    }

    /// Reads the body, if it can be shared.
    private func share(_ response: HTTPTransportResponse) async throws -> (Outcome, isForAll: Bool) {
        let length = response.head.headers.values(of: "Content-Length").first.flatMap { Int($0) }
        guard !response.head.isStream, length.map({ $0 <= limit }) ?? true else { return (.stream(response), false) }
        var iterator = response.body.makeAsyncIterator()
        var body = Data()
        while let piece = try await iterator.next() {
            body.append(piece)
            guard body.count <= limit else {
                let rest = PrefixedReader(body, then: iterator)
                var copy = response
                copy.body = HTTPBody(pull: rest.next)
                return (.stream(copy), false)
            }
        }
        var copy = response
        copy.body = HTTPBody(body)
        return (.whole(copy), true)
    }

    private func finish(_ key: Key, _ number: Int, _ result: Result<Outcome, any Error>, isForAll: Bool) {
        let flight = state.withLock { state in
            state.flights[key]?.number == number ? state.flights.removeValue(forKey: key) : nil
        }
        guard let flight else { return }
        for (index, waiter) in flight.waiters.enumerated() {
            let outcome = result.map { $0.aged(by: flight.age(for: waiter)) }
            waiter.resume(with: isForAll || index == 0 ? outcome : .success(.notShared))
        }
    }

    /// Delivers the head to a caller whose head deadline has passed. Its body follows when the shared body is complete;
    /// the caller's body limits start now.
    ///
    /// - Returns: Whether there is a head, or the caller waits no more.
    private func handOverHead(_ key: Key, _ number: Int) -> Bool {
        let (bodies, continuation) = AsyncThrowingStream<HTTPBody, any Error>.makeStream()
        let (waiter, response) = state.withLock { state -> (Waiter?, HTTPTransportResponse?) in
            guard let flight = state.flights[key],
                let index = flight.waiters.firstIndex(where: { $0.number == number })
            else { return (nil, nil) }
            let waiter = flight.waiters[index]
            guard let response = flight.received?.response else { return (waiter, nil) }
            state.flights[key]?.waiters[index].wait = .body(continuation)
            return (waiter, response.aged(by: flight.age(for: waiter)))
        }
        guard let waiter else { return true }
        guard var response else { return false }
        // Also when the body is released without being read.
        continuation.onTermination = { [self] _ in leave(key, number, because: CancellationError()) }
        response.body = HTTPBody(pull: LateReader(bodies).next)
        waiter.resume(with: .success(.whole(response)))
        return true
    }

    /// Lets one caller go, and cancels the exchange if it was the last one.
    private func leave(_ key: Key, _ number: Int, because error: any Error) {
        let (waiter, task) = state.withLock { state -> (Waiter?, Task<Void, Never>?) in
            guard let index = state.flights[key]?.waiters.firstIndex(where: { $0.number == number }) else {
                return (nil, nil)
            }
            let waiter = state.flights[key]?.waiters.remove(at: index)
            guard state.flights[key]?.waiters.isEmpty == true else { return (waiter, nil) }
            return (waiter, state.flights.removeValue(forKey: key)?.task)
        }
        waiter?.resume(with: .failure(error))
        task?.cancel()
    }
}

extension HTTPTransportResponse {
    fileprivate func aged(by age: Duration) -> HTTPTransportResponse {
        guard age >= .seconds(1) else { return self }
        var (copy, headers) = (self, head.headers)
        headers["Age"] = Freshness.text(ofAge: (Freshness.age(headers) ?? 0) + age / .seconds(1))
        copy.head = HTTPResponseHead(status: head.status, headers: headers, url: head.url)
        return copy
    }
}

extension HTTPTransportRequest {
    fileprivate var asksForStream: Bool {
        head.headers.values(of: "Accept").contains { value in
            value.split(separator: ",").contains { MediaType($0)?.isStream == true }
        }
    }
}

extension HTTPResponseHead {
    fileprivate var isStream: Bool {
        headers.values(of: "Content-Type").first.flatMap { MediaType($0) }?.isStream == true
    }
}

extension MediaType {
    fileprivate var isStream: Bool {
        ["text/event-stream", "application/x-ndjson", "application/jsonl"].contains { MediaType($0) == self }
    }
}
