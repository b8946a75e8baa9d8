import AuthInterface
import ConcurrencyPrimitives
import Foundation

/// Performs the calls of both clients. ``CallState`` holds the state of a call.
///
/// ```
/// endpoint → request → adapt (interceptors in order, then authentication) → exchange → accept status → decode
///                        ↑                                                     │ not accepted / failed
///                        └──────────── retry? (authentication, then interceptors in order) ◄┘
/// ```
///
/// Authentication adapts last, so that no interceptor sees or moves a token. It is asked about a retry first, because
/// it knows whether the failure was a refusal of the token.
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
        options: RequestOptions,
        authentication: CallAuthentication? = nil
    ) async throws -> Response {
        try await run(endpoint, options, authentication) { response, call in
            let body = try await collect(response, of: call, limit: configuration.maximumResponseSize)
            let whole = HTTPResponse(head: response.head, body: body)
            return (try read(whole, as: endpoint), bytes: body.count)
        }
    }

    @concurrent
    func stream<Response>(
        _ endpoint: Endpoint<Response>,
        options: RequestOptions,
        authentication: CallAuthentication? = nil
    ) async throws -> HTTPTransportResponse {
        try await run(endpoint, options, authentication) { response, call in
            var response = response
            response.body = HTTPBody(once: StreamedBody(body: response.body, head: response.head, call: call))
            return (response, bytes: 0)
        }
    }

    /// Makes attempts until one succeeds, or none may follow.
    private func run<Response, Value>(
        _ endpoint: Endpoint<Response>,
        _ options: RequestOptions,
        _ authentication: CallAuthentication?,
        reading: (HTTPTransportResponse, CallState) async throws -> (Value, bytes: Int)
    ) async throws -> Value {
        var call = try start(endpoint, options, authentication)
        do {
            try Task.checkCancellation()
            notify(.started, of: call)
            while true {
                call.attempt += 1
                let failure: NetworkError
                do {
                    let response = try await attempt(&call)
                    guard call.acceptedStatuses.contains(response.head.status) else {
                        throw try await refusal(response, of: call, to: endpoint)
                    }
                    let (value, bytes) = try await reading(response, call)
                    call.phases?.noteEnd()
                    notify(.succeeded(status: response.head.status, bytes: bytes), of: call)
                    return value
                } catch {
                    failure = try call.failure(error)
                }
                let pause = try await pauseBeforeRetry(after: failure, of: &call)
                notify(.retrying(after: pause, because: failure.code, status: failure.status), of: call)
                if pause > .zero { try await clock.sleep(until: clock.uptime + pause) }
            }
        } catch {
            throw end(call, with: error)
        }
    }

    private func start<Response>(
        _ endpoint: Endpoint<Response>,
        _ options: RequestOptions,
        _ authentication: CallAuthentication?
    ) throws -> CallState {
        let startedAt = clock.uptime
        do {
            let head = try configuration.request(for: endpoint)
            let body = try endpoint.body.encoded(by: configuration.coding)
            let idleTimeout = endpoint.timeout ?? configuration.timeout
            let standard = configuration.deadline.map { max($0, idleTimeout) }
            return CallState(
                endpoint: head,
                body: body,
                requiresAuthentication: endpoint.requiresAuthentication,
                isIdempotent: endpoint.isIdempotent,
                isReplayable: body.isReplayable,
                acceptedStatuses: endpoint.acceptedStatuses ?? configuration.acceptedStatuses,
                idleTimeout: idleTimeout,
                deadline: (options.deadline ?? endpoint.deadline ?? standard).map { startedAt + $0 },
                options: options,
                interceptors: interceptors + options.interceptors,
                clock: clock,
                startedAt: startedAt,
                // The attempt with a replaced token does not count as a retry.
                maximumAttempts: configuration.maximumAttempts + (authentication == nil ? 0 : 1),
                authentication: authentication,
                head: head
            )
        } catch {
            throw endBeforeStart(endpoint, options, with: error)
        }
    }

    private func end(_ call: CallState, with error: any Error) -> any Error {
        do {
            let failure = try call.failure(error)
            notify(.failed(failure.code, status: failure.status), of: call)
            return failure
        } catch {
            notify(.cancelled, of: call)
            return error
        }
    }

    /// The end of a call that has no request.
    private func endBeforeStart<Response>(
        _ endpoint: Endpoint<Response>,
        _ options: RequestOptions,
        with error: any Error
    ) -> any Error {
        guard var failure = try? NetworkError(describing: error, otherwise: .invalidRequest) else { return error }
        let request = configuration.summary(of: endpoint)
        failure.request = request
        let id = UUID()
        for kind in [NetworkEvent.Kind.started, .failed(failure.code, status: nil)] {
            notify(kind, id: id, attempt: 0, request, tags: options.tags)
        }
        return failure
    }

    /// Tells the observers. Nothing is built where there is none.
    func notify(_ kind: @autoclosure () -> NetworkEvent.Kind, of call: CallState) {
        guard !observers.isEmpty else { return }
        notify(
            kind(), id: call.id, attempt: call.attempt, RequestSummary(call.head), tags: call.options.tags,
            timings: call.phases?.timings)
    }

    private func notify(
        _ kind: NetworkEvent.Kind,
        id: UUID,
        attempt: Int,
        _ request: RequestSummary,
        tags: [String: String],
        timings: NetworkTimings? = nil
    ) {
        let event = NetworkEvent(
            kind: kind, id: id, attempt: attempt, request: request, uptime: clock.uptime, tags: tags, timings: timings)
        for observer in observers { observer.receive(event) }
    }
}
