import AuthInterface
import ConcurrencyPrimitives

/// The one loop that drives every call of both clients.
///
/// ```
/// endpoint → request → adapt (interceptors in order, then authentication) → exchange → accept status → decode
///                        ↑                                                     │ not accepted / failed
///                        └──────────── retry? (authentication, then interceptors in order) ◄┘
/// ```
///
/// Authentication is the last to adapt, so that nothing after it sees or moves a token, and the first to hear of a
/// failure, because it alone knows whether that was the token's fault.
struct RequestLoop: Sendable {
    let configuration: NetworkConfiguration
    let transport: any HTTPTransport
    let interceptors: [any RequestInterceptor]
    let observers: [any NetworkObserver]
    let clock: any TimeSource

    // Off the caller's actor: a screen that sends a request must not encode, read files and decode on the main one.
    @concurrent
    func send<Response>(
        _ endpoint: Endpoint<Response>,
        authentication: AuthenticationInterceptor?,
        progress: ProgressHandler?
    ) async throws -> Response {
        var call = begin(endpoint, isAuthenticated: authentication != nil)
        do {
            try Task.checkCancellation()
            let request = try configuration.request(for: endpoint)
            call.request = RequestSummary(request)
            notify(call.event(.started))
            let body = try endpoint.body.encoded(by: configuration.coding)
            let draft = Draft(request: request, body: body, progress: progress)
            return try await attempt(draft, of: &call, authentication: authentication) { response in
                try self.read(response, as: endpoint)
            }
        } catch {
            throw end(call, with: error)
        }
    }

    /// What every attempt starts from.
    struct Draft {
        let request: HTTPRequestHead
        let body: HTTPBody
        let progress: ProgressHandler?
    }

    private func begin<Response>(_ endpoint: Endpoint<Response>, isAuthenticated: Bool) -> Call {
        let facts = Call.Facts(
            method: endpoint.method,
            requiresAuthentication: endpoint.requiresAuthentication,
            isIdempotent: endpoint.isIdempotent,
            isReplayable: endpoint.body.isReplayable,
            timeout: endpoint.timeout ?? configuration.timeout
        )
        return Call(
            endpoint: facts,
            clock: clock,
            startedAt: clock.uptime,
            // The one attempt with a better token does not count against the others.
            maximumAttempts: configuration.maximumAttempts + (isAuthenticated ? 1 : 0),
            request: RequestSummary(method: endpoint.method, url: configuration.baseURL)
        )
    }

    private func attempt<Response>(
        _ draft: Draft,
        of call: inout Call,
        authentication: AuthenticationInterceptor?,
        read: (HTTPResponse) throws -> Response
    ) async throws -> Response {
        while true {
            call.attempt += 1
            let failure: NetworkError
            do {
                let request = try await adapt(draft.request, for: &call, authentication: authentication)
                let response = try await exchange(request, draft, for: &call, authentication: authentication)
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
        _ request: HTTPRequestHead,
        for call: inout Call,
        authentication: AuthenticationInterceptor?
    ) async throws -> HTTPRequestHead {
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
            call.session = authentication.carriedSession
            call.carriesToken = call.session != nil
        }
        return request
    }

    /// Asks who wants to send a failed request again.
    ///
    /// - Returns: The pause before the next attempt.
    /// - Throws: The failure, when nobody wants to or the body cannot be sent again.
    private func pauseBeforeRetry(
        after failure: NetworkError,
        of call: Call,
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
        guard call.endpoint.isReplayable else { throw failure.becauseOfOneShotBody() }
        return pause
    }

    private func end(_ call: Call, with error: any Error) -> any Error {
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

extension NetworkConfiguration {
    /// Keeps a request from going over plain http to another machine. It holds for every request and not only for
    /// those with tokens in a header field: a login's answer and a refresh's body hold tokens too (G16).
    func refuseCleartext(_ request: HTTPRequestHead) throws {
        guard let origin = Origin(request.url) else { return }
        guard origin.mayBeSpokenTo(exceptions: cleartextExceptions) else {
            throw NetworkError(
                .cleartextRefused,
                reason: "\(origin) is plain http; use https, or name the origin in cleartextExceptions"
            )
        }
    }
}

extension NetworkError {
    /// The failure of a request that would be sent again, were its body not a one-shot stream (G21).
    func becauseOfOneShotBody() -> NetworkError {
        NetworkError(
            .bodyNotReplayable,
            reason: "the request failed (\(code)) and its body is a one-shot stream, which cannot be sent again",
            response: response,
            envelope: envelope,
            retryAfter: retryAfter,
            cause: self
        )
    }
}
