public import ConcurrencyPrimitives
public import NetworkCore

/// The limits of an event stream, and how it reconnects.
public struct EventStreamOptions: Sendable {
    /// The default of ``idleTimeout``: 60 seconds.
    public static let defaultIdleTimeout: Duration = .seconds(60)

    /// The default of ``maximumEventSize``: 1 MiB.
    public static let defaultMaximumEventSize = 1_024 * 1_024

    /// The default of ``maximumFailures``.
    public static let defaultMaximumFailures = 10

    /// The pauses between failed connections: 1 second at first, and at most 30 seconds.
    public static let defaultBackoff = Backoff(base: .seconds(1), limit: .seconds(30), floor: .milliseconds(100))

    /// How long nothing may arrive before the stream reconnects. The timeout of an endpoint comes first. A server that
    /// has no events sends comments meanwhile.
    public var idleTimeout: Duration

    /// The most bytes of one event. A larger one fails with code `responseTooLarge`.
    public var maximumEventSize: Int

    /// The most connections in a row that may fail, or end without a byte, before the stream fails.
    public var maximumFailures: Int

    /// The pauses before reconnections. `retry` of the server and `Retry-After` make a pause longer, up to
    /// ``maximumPause``.
    public var backoff: Backoff

    /// The longest pause that the server can ask for.
    public var maximumPause: Duration

    /// The id to send as `Last-Event-ID` with the first request: of the last event that an earlier stream returned.
    public var lastEventID: String

    /// The options of each request.
    public var request: RequestOptions

    /// The clock of the pauses.
    public var clock: any TimeSource

    /// Creates options.
    ///
    /// - Parameters:
    ///   - idleTimeout: How long nothing may arrive before the stream reconnects.
    ///   - maximumEventSize: The most bytes of one event.
    ///   - maximumFailures: The most connections in a row that may fail.
    ///   - backoff: The pauses before reconnections.
    ///   - maximumPause: The longest pause that the server can ask for.
    ///   - lastEventID: The id to send with the first request.
    ///   - request: The options of each request.
    ///   - clock: The clock of the pauses.
    public init(
        idleTimeout: Duration = defaultIdleTimeout,
        maximumEventSize: Int = defaultMaximumEventSize,
        maximumFailures: Int = defaultMaximumFailures,
        backoff: Backoff = defaultBackoff,
        maximumPause: Duration = .seconds(300),
        lastEventID: String = "",
        request: RequestOptions = RequestOptions(),
        clock: any TimeSource = SystemTimeSource()
    ) {
        self.idleTimeout = idleTimeout
        self.maximumEventSize = maximumEventSize
        self.maximumFailures = maximumFailures
        self.backoff = backoff
        self.maximumPause = maximumPause
        self.lastEventID = lastEventID
        self.request = request
        self.clock = clock
    }

    /// The pause before a reconnection.
    ///
    /// - Parameters:
    ///   - failures: The failures in a row.
    ///   - asked: The pauses that the server asked for: `retry`, `Retry-After`.
    /// - Returns: The pause.
    func pause(afterFailures failures: Int, asked: [Duration?]) -> Duration {
        let asked = asked.compactMap(\.self).max().map { min($0, maximumPause) }
        // A connection that delivered something and ended: the server's pause counts alone.
        if failures <= 1, let asked { return max(asked, backoff.floor) }
        return max(asked ?? .zero, backoff.delay(afterFailures: failures))
    }
}
