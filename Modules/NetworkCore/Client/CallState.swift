import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// The state of one call.
struct CallState {
    let id = UUID()
    let endpoint: HTTPRequestHead
    let body: HTTPBody
    let requiresAuthentication: Bool
    let isIdempotent: Bool
    let isReplayable: Bool
    let acceptedStatuses: HTTPStatusSet
    let idleTimeout: Duration
    /// When the head of the response must be there, on the clock's uptime.
    let deadline: Duration?
    let options: RequestOptions
    /// The client's, then those of the options.
    let interceptors: [any RequestInterceptor]
    let clock: any TimeSource
    let startedAt: Duration
    let maximumAttempts: Int

    /// The tokens of the call; `nil` in a client without authentication.
    var authentication: CallAuthentication?

    /// The number of the attempt, from 1.
    var attempt = 0

    /// The last request: the endpoint's, then as interceptors adapted it, then where redirects led.
    var head: HTTPRequestHead

    /// What the phases of the last attempt took; `nil` where there is no observer.
    var phases: CallPhases?

    /// Whether the last request has the body: a redirect may drop it.
    var keepsBody = true

    /// What interceptors and transports are told.
    var context: RequestContext {
        RequestContext(
            id: id,
            attempt: attempt,
            method: endpoint.method,
            requiresAuthentication: requiresAuthentication,
            isIdempotent: isIdempotent,
            isReplayable: isReplayable,
            session: authentication?.carried?.session,
            tags: options.tags,
            clock: clock,
            startedAt: startedAt
        )
    }

    /// The time left until the deadline, from an instant of the clock's uptime.
    func timeLeft(at uptime: Duration) -> Duration? { deadline.map { $0 - uptime } }

    /// Converts any error of an attempt to an error of the call, with the last request, the attempt and the elapsed
    /// time.
    ///
    /// - Throws: `CancellationError`, if that is the error.
    func failure(_ error: any Error) throws -> NetworkError {
        var failure = try NetworkError(describing: error)
        failure.request = RequestSummary(head)
        failure.attempt = attempt
        failure.elapsed = clock.uptime - startedAt
        return failure
    }
}
