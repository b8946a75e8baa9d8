import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// Sends equal `GET` requests that are under way at the same time once.
///
/// ```swift
/// let client = NetworkClient(baseURL: url, transport: CoalescingTransport(URLSessionTransport()))
/// ```
///
/// Requests are equal if their URL, their fields, their idle timeout and their session are. The fields `traceparent`,
/// `tracestate` and `X-Request-ID` do not count: they differ for each request, and those of the first one are sent. Each
/// caller has its own deadline and cancellation: a caller that leaves does not affect the others, and the last one to
/// leave cancels the exchange.
///
/// Streams and refreshes of tokens are never joined. A request that starts after an unsafe one has ended does not join an
/// exchange from before, which may not see the change.
///
/// The body is read into memory before the callers receive it. A response of more than the limit, an event stream and
/// JSON lines are not shared: the first caller receives it, and each other one sends its own request.
public final class CoalescingTransport: HTTPTransport {
    /// The default of the largest body that is shared: 4 MiB.
    public static let defaultMaximumSharedSize = 4 * 1_024 * 1_024

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
    }

    private struct Flight {
        var waiters: [(number: Int, continuation: CheckedContinuation<Outcome, any Error>)] = []
        let number: Int
        var hasHead = false
        var task: Task<Void, Never>?
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

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - next: The transport of the exchanges.
    ///   - maximumSharedSize: The largest body that is shared, in bytes.
    public init(_ next: any HTTPTransport, maximumSharedSize: Int = defaultMaximumSharedSize) {
        self.next = next
        limit = maximumSharedSize
    }

    /// Joins an equal request that is under way, or sends this one.
    ///
    /// - Parameter request: The request. Of requests that are joined, the first one's events are reported.
    /// - Returns: The response.
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
            own.timeToHead = request.timeToHead.map { max(.zero, $0 - waited) }
            return try await next.perform(own)
        }
    }

    /// Whether the transport underneath does.
    public var endsInTime: Bool { next.endsInTime }

    private func key(of request: HTTPTransportRequest) -> Key {
        var headers = request.head.headers
        headers.removeAll { Self.uncomparedFields.contains($0.name.lowercased()) }
        return Key(
            url: request.head.url, headers: headers, session: request.context.session,
            idleTimeout: request.idleTimeout, generation: state.withLock { $0.generation })
    }

    private func wait(for request: HTTPTransportRequest, _ key: Key) async throws -> Outcome {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let clock = request.context.clock
        let timer = request.timeToHead.map { limit in
            Task { [end = clock.uptime + limit] in
                try await clock.sleep(until: end)
                let error = HTTPTransportError.waited(for: .responseHead, atMost: limit)
                leave(key, number, because: error, unlessHasHead: true)
            }
        }
        defer { timer?.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let starts = state.withLock { state -> Bool? in
                    // A cancellation before this line found no continuation to resume.
                    if Task.isCancelled { return nil }
                    let isFirst = state.flights[key] == nil
                    state.flights[key, default: Flight(number: number)].waiters.append((number, continuation))
                    return isFirst
                }
                switch starts {
                case nil: continuation.resume(throwing: CancellationError())
                case true?: start(request, key, number)
                case false?: break
                }
            }
        } onCancel: {
            leave(key, number, because: CancellationError())
        }
    }

    private func start(_ request: HTTPTransportRequest, _ key: Key, _ number: Int) {
        var request = request
        request.timeToHead = nil
        let task = Task { [request] in
            do {
                let response = try await next.perform(request)
                // From here on, the idle timeout of the body counts.
                state.withLock { if $0.flights[key]?.number == number { $0.flights[key]?.hasHead = true } }
                let (outcome, isForAll) = try await share(response)
                finish(key, number, .success(outcome), isForAll: isForAll)
            } catch {
                finish(key, number, .failure(error), isForAll: true)
            }
        }
        let isOver = state.withLock { state in
            guard state.flights[key]?.number == number else { return true }
            state.flights[key]?.task = task
            return false
        }
        // Finished already, or all callers have left.
        if isOver { task.cancel() }
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
        let waiters = state.withLock { state in
            guard state.flights[key]?.number == number else {
                return [(number: Int, continuation: CheckedContinuation<Outcome, any Error>)]()
            }
            return state.flights.removeValue(forKey: key)?.waiters ?? []
        }
        for (index, waiter) in waiters.enumerated() {
            waiter.continuation.resume(with: isForAll || index == 0 ? result : .success(.notShared))
        }
    }

    /// Lets one caller go, and cancels the exchange if it was the last one.
    private func leave(_ key: Key, _ number: Int, because error: any Error, unlessHasHead: Bool = false) {
        let (waiter, task) = state.withLock { state -> (CheckedContinuation<Outcome, any Error>?, Task<Void, Never>?) in
            guard !unlessHasHead || state.flights[key]?.hasHead == false else { return (nil, nil) }
            guard let index = state.flights[key]?.waiters.firstIndex(where: { $0.number == number }) else {
                return (nil, nil)
            }
            let waiter = state.flights[key]?.waiters.remove(at: index).continuation
            guard state.flights[key]?.waiters.isEmpty == true else { return (waiter, nil) }
            return (waiter, state.flights.removeValue(forKey: key)?.task)
        }
        waiter?.resume(throwing: error)
        task?.cancel()
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

/// Reads what was read already, and then the rest.
private final class PrefixedReader: @unchecked Sendable {  // one reader calls `next`, one call at a time
    private var prefix: Data?
    private var rest: HTTPBody.AsyncIterator

    init(_ prefix: Data, then rest: HTTPBody.AsyncIterator) {
        self.prefix = prefix
        self.rest = rest
    }

    @Sendable func next() async throws -> Data? {
        if let prefix {
            self.prefix = nil
            return prefix
        }
        return try await rest.next()
    }
}
