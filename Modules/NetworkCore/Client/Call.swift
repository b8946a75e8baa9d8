import AuthInterface
import ConcurrencyPrimitives

/// What the loop knows of one call while it is under way.
struct Call {
    let id = RequestID()
    let endpoint: Facts
    let clock: any TimeSource
    let startedAt: Duration
    let maximumAttempts: Int

    /// The number of the attempt, from 1.
    var attempt = 0

    /// What was asked last.
    var request: RequestSummary

    /// Whether the request asked last carried a token.
    var carriesToken = false

    /// The session of that token.
    var session: SessionID?

    /// What the loop knows of an endpoint, whatever its `Response`.
    struct Facts {
        let method: HTTPMethod
        let requiresAuthentication: Bool
        let isIdempotent: Bool
        let isReplayable: Bool
        let timeout: Duration
    }

    var context: RequestContext {
        RequestContext(
            id: id,
            attempt: attempt,
            method: endpoint.method,
            requiresAuthentication: endpoint.requiresAuthentication,
            isIdempotent: endpoint.isIdempotent,
            isReplayable: endpoint.isReplayable,
            session: session,
            clock: clock,
            startedAt: startedAt
        )
    }

    func event(_ kind: NetworkEvent.Kind) -> NetworkEvent {
        NetworkEvent(kind: kind, id: id, attempt: attempt, request: request, uptime: clock.uptime)
    }

    /// Makes any error of an attempt the call's own: with what was asked, which attempt it was and how long it took.
    ///
    /// - Throws: `CancellationError`, when that is what the error is.
    func failure(_ error: any Error) throws -> NetworkError {
        var failure = try NetworkError(describing: error)
        failure.request = request
        failure.attempt = attempt
        failure.maximumAttempts = maximumAttempts
        failure.elapsed = clock.uptime - startedAt
        return failure
    }
}

extension NetworkError {
    /// Reads any error as one of the network.
    ///
    /// - Throws: `CancellationError`, when that is what the error is.
    init(describing error: any Error, otherwise code: Code = .transportFailed) throws {
        switch error {
        case let error as NetworkError: self = error
        case let error as CancellationError: throw error
        case let error as AuthenticationError: self.init(error)
        case let error as HTTPTransportError: self.init(error.code, cause: error)
        case let error as HTTPBodyError: self.init(error)
        case let error as DecodingError: self.init(.decodingFailed, cause: DecodingFailure(error))
        default: self.init(code, cause: error)
        }
    }

    /// An error of the token provider, under the code of the same name.
    init(_ error: AuthenticationError, response: HTTPResponseHead? = nil, envelope: ErrorEnvelope? = nil) {
        self.init(
            Code(rawValue: error.code.rawValue),
            response: response,
            envelope: envelope,
            retryAfter: error.retryAfter,
            cause: error
        )
    }
}
