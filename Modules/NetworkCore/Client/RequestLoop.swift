import AuthInterface
import ConcurrencyPrimitives

/// Performs the calls of both clients.
///
/// ```
/// endpoint → request → adapt (interceptors in order, then authentication) → exchange → accept status → decode
///                        ↑                                                     │ not accepted / failed
///                        └──────────── retry? (authentication, then interceptors in order) ◄┘
/// ```
///
/// Authentication adapts last, so that no interceptor sees or moves a token. It is asked about a retry first, because it
/// knows whether the failure was a refusal of the token.
struct RequestLoop: Sendable {
    let configuration: NetworkConfiguration
    let transport: any HTTPTransport
    let interceptors: [any RequestInterceptor]
    let observers: [any NetworkObserver]
    let clock: any TimeSource

    // Off the caller's actor: encoding, reading files and decoding must not run on the main actor.
    @concurrent
    func send<Response>(
        _ endpoint: Endpoint<Response>,
        authentication: AuthenticationInterceptor?,
        progress: ProgressHandler?
    ) async throws -> Response {
        var call = CallState(
            endpoint, configuration: configuration, clock: clock, isAuthenticated: authentication != nil)
        do {
            try Task.checkCancellation()
            let request = try configuration.request(for: endpoint)
            notify(call.event(.started))
            let body = try EncodedBody(endpoint.body, coding: configuration.coding)
            defer { body.discard() }
            let prepared = PreparedRequest(request: request, body: body, progress: progress)
            return try await attempt(prepared, of: &call, authentication: authentication) { response in
                try self.read(response, as: endpoint)
            }
        } catch {
            throw end(call, with: error)
        }
    }

    /// The request that every attempt starts from.
    struct PreparedRequest {
        let request: URLRequest
        let body: EncodedBody
        let progress: ProgressHandler?
    }

    private func attempt<Response>(
        _ prepared: PreparedRequest,
        of call: inout CallState,
        authentication: AuthenticationInterceptor?,
        read: (HTTPResponse) throws -> Response
    ) async throws -> Response {
        while true {
            call.attempt += 1
            let failure: NetworkError
            do {
                let request = try await adapt(prepared.request, for: &call, authentication: authentication)
                let response = try await exchange(request, prepared, for: &call, authentication: authentication)
                let value = try read(response)
                notify(call.event(.succeeded(status: response.status, bytes: response.body.count)))
                return value
            } catch {
                failure = try call.failure(error)
            }
            let pause = try await pauseBeforeRetry(after: failure, of: call, authentication: authentication)
            notify(call.event(.retrying(after: pause, because: failure.code, status: failure.status)))
            if pause > .zero { try await clock.sleep(until: clock.uptime + pause) }
        }
    }

    private func adapt(
        _ request: URLRequest,
        for call: inout CallState,
        authentication: AuthenticationInterceptor?
    ) async throws -> URLRequest {
        var request = request
        let context = call.context
        for interceptor in interceptors {
            do {
                request = try await interceptor.adapt(request, context: context)
            } catch {
                throw try NetworkError(describing: error, otherwise: .interceptorFailed)
            }
        }
        try request.validate()
        call.request = RequestSummary(request)
        try configuration.refuseCleartext(request)
        call.carriesToken = false
        if let authentication {
            request = try await authentication.adapt(request, context: context)
            call.carriesToken = authentication.carriesToken
        }
        return request
    }

    /// Asks authentication and the interceptors whether a failed request is sent again.
    ///
    /// - Returns: The pause before the next attempt.
    /// - Throws: The failure, if it is not sent again or its body cannot be.
    private func pauseBeforeRetry(
        after failure: NetworkError,
        of call: CallState,
        authentication: AuthenticationInterceptor?
    ) async throws -> Duration {
        guard call.attempt < call.maximumAttempts else { throw failure }
        let context = call.context
        var decision = RetryDecision.doNotRetry
        if let authentication, call.carriesToken {
            decision = try await authentication.retry(failure, context: context)
        }
        for interceptor in interceptors where decision == .doNotRetry {
            do {
                decision = try await interceptor.retry(failure, context: context)
            } catch {
                throw try NetworkError(describing: error, otherwise: .interceptorFailed)
            }
        }
        guard case .retry(let pause) = decision else { throw failure }
        guard call.isReplayable else { throw failure.becauseOfOneShotBody() }
        return pause
    }

    private func end(_ call: CallState, with error: any Error) -> any Error {
        do {
            let failure = try call.failure(error)
            notify(call.event(.failed(failure.code, status: failure.status)))
            return failure
        } catch {
            notify(call.event(.cancelled))
            return error
        }
    }

    func notify(_ event: NetworkEvent) {
        for observer in observers { observer.receive(event) }
    }
}
