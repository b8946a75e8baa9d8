import ConcurrencyPrimitives
import Foundation

/// The state of one call.
struct CallState {
    let id = UUID()
    let method: HTTPMethod
    let requiresAuthentication: Bool
    let isIdempotent: Bool
    let isReplayable: Bool
    let timeout: Duration
    let clock: any TimeSource
    let startedAt: Duration
    let maximumAttempts: Int

    /// The number of the attempt, from 1.
    var attempt = 0

    /// The last request.
    var request: RequestSummary

    /// Whether the last request carried a token.
    var carriesToken = false

    init<Response>(
        _ endpoint: Endpoint<Response>,
        configuration: NetworkConfiguration,
        clock: any TimeSource,
        isAuthenticated: Bool
    ) {
        method = endpoint.method
        requiresAuthentication = endpoint.requiresAuthentication
        isIdempotent = endpoint.isIdempotent
        isReplayable = endpoint.body.isReplayable
        timeout = endpoint.timeout ?? configuration.timeout
        self.clock = clock
        startedAt = clock.uptime
        // The attempt with a replaced token does not count as a retry.
        maximumAttempts = configuration.maximumAttempts + (isAuthenticated ? 1 : 0)
        request = configuration.summary(of: endpoint)
    }

    var context: RequestContext {
        RequestContext(
            id: id,
            attempt: attempt,
            method: method,
            requiresAuthentication: requiresAuthentication,
            isIdempotent: isIdempotent,
            isReplayable: isReplayable,
            clock: clock,
            startedAt: startedAt
        )
    }

    func event(_ kind: NetworkEvent.Kind) -> NetworkEvent {
        NetworkEvent(kind: kind, id: id, attempt: attempt, request: request, uptime: clock.uptime)
    }

    /// Converts any error of an attempt to an error of the call, with the last request, the attempt and the elapsed time.
    ///
    /// - Throws: `CancellationError`, if that is the error.
    func failure(_ error: any Error) throws -> NetworkError {
        var failure = try NetworkError(describing: error)
        failure.request = request
        failure.attempt = attempt
        failure.elapsed = clock.uptime - startedAt
        return failure
    }
}
