public import ConcurrencyPrimitives
public import NetworkCore

/// The limits of an event stream, and how it reconnects.
public struct EventStreamOptions: Sendable {
    /// How long nothing may arrive before the stream reconnects. The timeout of an endpoint comes first. A server that
    /// has no events sends comments meanwhile.
    public var idleTimeout: Duration = .seconds(60)

    /// The most bytes of one event: 1 MiB. A larger one fails with code `responseTooLarge`.
    public var maximumEventSize = 1_024 * 1_024

    /// The most connections in a row that may fail without a byte before the stream fails. One that is silent, and one
    /// that ends, as balancers end silent ones, counts as the first of a row. With 0 each of them fails the stream.
    public var maximumFailures = 10

    /// The pauses before reconnections. They grow while connections fail, or end without a byte before the time of the
    /// longest pause. `retry` of the server and `Retry-After` make a pause longer, up to ``maximumPause``.
    public var backoff = Backoff(base: .seconds(1), limit: .seconds(30), floor: .milliseconds(100))

    /// The longest pause that the server can ask for.
    public var maximumPause: Duration = .seconds(300)

    /// The id to send as `Last-Event-ID` with the first request: of the last event that an earlier stream returned.
    public var lastEventID = ""

    /// The options of each request.
    public var request = RequestOptions()

    /// The clock of the pauses.
    public var clock: any TimeSource = SystemTimeSource()

    /// Creates options with the defaults.
    public init() {}

    /// The pause before a reconnection.
    func pause(afterFailures failures: Int, asked: [Duration?]) -> Duration {
        let asked = asked.compactMap(\.self).max().map { min($0, maximumPause) }
        // A connection that delivered something and ended: the server's pause counts alone.
        if failures <= 1, let asked { return max(asked, backoff.floor) }
        return max(asked ?? .zero, backoff.delay(afterFailures: failures))
    }
}
