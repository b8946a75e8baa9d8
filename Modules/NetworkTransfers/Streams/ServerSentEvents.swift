import ConcurrencyPrimitives
import Foundation
public import NetworkCore

extension NetworkService {
    /// Reads an event stream (WHATWG HTML §9.2), and reconnects when its connection is lost.
    ///
    /// ```swift
    /// for try await event in network.events("feed") { show(event.data) }
    /// ```
    ///
    /// - Returns: The events. Each iteration opens a stream of its own.
    public func events<Response>(
        _ endpoint: Endpoint<Response>, options: EventStreamOptions = EventStreamOptions()
    ) -> ServerSentEvents {
        var endpoint = endpoint
        endpoint.settings.headers["Accept"] = endpoint.settings.headers["Accept"] ?? "text/event-stream"
        endpoint.settings.headers["Cache-Control"] = endpoint.settings.headers["Cache-Control"] ?? "no-store"
        endpoint.settings.acceptedStatuses = .any(of: [.status(200), .status(204)])
        endpoint.settings.timeout = endpoint.settings.timeout ?? options.idleTimeout
        return ServerSentEvents(reconnects: endpoint.isIdempotent, options: options) { [endpoint] id, continuity in
            var endpoint = endpoint
            // An id with control characters cannot be a field value. The stream then starts without it.
            if !id.isEmpty, id.isFieldValue { endpoint.settings.headers["Last-Event-ID"] = id }
            var request = options.request
            request.continuity = request.continuity ?? continuity
            return try await stream(endpoint, options: request)
        }
    }

    /// Reads the event stream at a path: ``events(_:options:)`` of a `GET`.
    public func events(
        _ path: EndpointPath, query: QueryItems = [:], options: EventStreamOptions = EventStreamOptions()
    ) -> ServerSentEvents {
        events(Endpoint<Data>.get(path, query: query), options: options)
    }
}

/// The events of a stream. `NetworkService.events(_:options:)` makes it.
///
/// **Reconnection.** When a connection ends or fails, the stream pauses and connects again with the id of the last
/// event in `Last-Event-ID`, so that the server sends what came after it. A refused token is replaced on the way, and
/// the new request carries the same id. Reconnections stay with the first session (G23).
///
/// **End.** Status 204 ends the stream. It throws after `maximumFailures` connections in a row that failed without a
/// byte, and at once for a failure that another connection cannot fix: a status other than 408, 429 and 5xx, a media
/// type other than `text/event-stream`, a session that has ended. A request that is not idempotent, such as a `POST`
/// without a key, is sent once: the end of its response is the end of the stream.
public struct ServerSentEvents: AsyncSequence, Sendable {
    typealias Connect = @Sendable (_ id: String, _ continuity: SessionContinuity) async throws -> HTTPTransportResponse

    let reconnects: Bool
    let options: EventStreamOptions
    let connect: Connect

    /// Starts an iteration. It sends nothing.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// Reads the events. Releasing it closes the connection.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let source: ServerSentEvents
        private let continuity = SessionContinuity()
        private var parser: ServerSentEventParser
        private var pieces: HTTPBody.AsyncIterator?
        private var failures = 0
        /// The connections in a row without a byte, for the pause.
        private var pauses = 0
        private var opened = Duration.zero
        /// Whether the last connection was not cut, but ended.
        private var hasEnded = false
        private var retry: Duration?
        private var isEnded = false

        fileprivate init(_ source: ServerSentEvents) {
            self.source = source
            parser = Self.parser(after: source.options.lastEventID, source.options)
        }

        /// Waits for the next event; `nil` is the end of the stream.
        ///
        /// - Throws: `NetworkError`; `CancellationError` at once when the task is cancelled.
        public mutating func next() async throws -> ServerSentEvent? {
            while true {
                guard !isEnded else { return nil }
                do {
                    if let event = try parser.next() { return event }
                    try await readOn()
                } catch {
                    do {
                        try await pause(after: error)
                    } catch {
                        end()
                        throw error
                    }
                }
            }
        }

        /// Connects, or reads one piece.
        private mutating func readOn() async throws {
            guard pieces != nil else {
                hasEnded = false
                let response = try await source.connect(parser.lastEventID, continuity)
                if response.head.status == 204 { return end() }
                try response.head.requireEventStream()
                parser = Self.parser(after: parser.lastEventID, source.options)
                pieces = response.body.makeAsyncIterator()
                opened = source.options.clock.uptime
                return
            }
            guard let piece = try await pieces?.next() else {
                guard source.reconnects else { return end() }
                hasEnded = true
                throw NetworkError(.connectionFailed, reason: "the event stream ended")
            }
            guard !piece.isEmpty else { return }
            failures = 0
            pauses = 0
            parser.take(piece)
        }

        private mutating func end() {
            isEnded = true
            pieces = nil
        }

        /// Waits before the next connection, or throws.
        private mutating func pause(after error: any Error) async throws {
            let wasOpen = pieces != nil
            pieces = nil
            retry = parser.retry ?? retry
            let failure = try NetworkError(describing: error)
            let options = source.options
            // A server without events that sends no comments is no failure, whether its silence ends the connection
            // here or at a balancer. One that ends each connection soon is asked ever more rarely.
            let lasted = options.clock.uptime - opened >= options.backoff.limit
            let isSilence = wasOpen && (lasted || failure.code == .timedOut)
            failures = isSilence || hasEnded ? 1 : failures + 1
            pauses = isSilence ? 1 : pauses + 1
            guard source.reconnects, failure.permitsReconnection, failures <= options.maximumFailures else {
                throw failure
            }
            let pause = options.pause(afterFailures: pauses, asked: [retry, failure.retryAfter])
            try await options.clock.sleep(until: options.clock.uptime + pause)
        }

        private static func parser(after id: String, _ options: EventStreamOptions) -> ServerSentEventParser {
            ServerSentEventParser(lastEventID: id, limit: options.maximumEventSize)
        }
    }
}

extension HTTPResponseHead {
    fileprivate func requireEventStream() throws {
        guard MediaType(headers.first(of: "Content-Type")) == MediaType("text/event-stream") else {
            throw NetworkError(.decodingFailed, reason: "the response is not an event stream", response: self)
        }
    }
}

extension NetworkError {
    /// Whether another connection may succeed.
    fileprivate var permitsReconnection: Bool {
        switch code {
        case .connectionFailed, .timedOut, .transportFailed, .refreshUnavailable, .storeUnavailable: true
        case .unacceptableStatus: status.map { $0 >= 500 || $0 == 408 || $0 == 429 } ?? false
        default: false
        }
    }
}
