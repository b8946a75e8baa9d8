import ConcurrencyPrimitives
import Foundation

// The calls of both clients. ``CallState`` holds the state of a call.
//
// ```
// endpoint → request → adapt (interceptors in order, then authentication) → exchange → accept status → decode
//                        ↑                                                     │ not accepted / failed
//                        └──────────── retry? (authentication, then interceptors in order) ◄┘
// ```
//
// Authentication adapts last, so that no interceptor sees or moves a token. It is asked about a retry first, because
// it knows whether the failure was a refusal of the token.
extension NetworkClient {
    // Off the caller's actor: encoding, reading files and decoding must not run on the main actor.
    @concurrent
    func value<Response>(
        of endpoint: Endpoint<Response>, _ options: RequestOptions, _ rules: CallAuthentication.Rules?
    ) async throws -> Response {
        try await run(endpoint, options, rules, purpose: .call) { response, call in
            let body = try await collect(response, of: call, limit: configuration.maximumResponseSize)
            call.accepted = (response.head.status, body.count)
            return try read(HTTPResponse(head: response.head, body: body), by: endpoint.reading, of: call)
        }
    }

    @concurrent
    func stream<Response>(
        of endpoint: Endpoint<Response>, _ options: RequestOptions, _ rules: CallAuthentication.Rules?
    ) async throws -> HTTPTransportResponse {
        try await run(endpoint, options, rules, purpose: .stream) { response, call in
            let head = response.head
            call.accepted = (head.status, 0)
            var response = response
            response.body = response.body.observed { [call] result in
                guard case .failure(let error as HTTPTransportError) = result else { return }
                try Task.checkCancellation()
                throw try call.failure(NetworkError(error, reading: head))
            }
            return response
        }
    }

    private func run<Response, Value: Sendable>(
        _ endpoint: Endpoint<Response>, _ options: RequestOptions, _ rules: CallAuthentication.Rules?,
        purpose: HTTPTransportRequest.Purpose,
        reading: (HTTPTransportResponse, inout CallState) async throws -> Value
    ) async throws -> Value {
        var call = try start(endpoint, options, rules, purpose)
        do {
            try Task.checkCancellation()
            notify(.started, of: call)
            let value = try await attempts(of: &call, reading)
            // Not of the call in the closure, for which the whole of it would be copied.
            let (status, bytes) = call.accepted
            notify(.succeeded(status: status, bytes: bytes), of: call)
            return value
        } catch let failure as NetworkError {
            notify(.failed(failure.code, status: failure.status), of: call)
            throw failure
        } catch {
            notify(.cancelled, of: call)
            throw error
        }
    }

    /// Makes attempts until one succeeds, or none may follow.
    ///
    /// - Throws: ``NetworkError``; `CancellationError`.
    private func attempts<Value: Sendable>(
        of call: inout CallState, _ reading: (HTTPTransportResponse, inout CallState) async throws -> Value
    ) async throws -> Value {
        while true {
            call.attempt += 1
            call.renewDeadline(at: clock.uptime)
            let failure: NetworkError
            do {
                let response = try await attempt(&call)
                call.renewDeadline(at: clock.uptime)
                guard call.settings.acceptedStatuses.contains(response.head.status) else {
                    throw try await refusal(response, of: call)
                }
                let value = try await reading(response, &call)
                call.phases?.end(\.body, since: .head)
                return value
            } catch {
                failure = try call.failure(error)
            }
            do {
                let pause = try await pauseBeforeRetry(after: failure, of: &call)
                if failure.status == 421 { call.needsNewConnection = true }
                notify(.retrying(after: pause, because: failure.code, status: failure.status), of: call)
                if pause > .zero { try await clock.sleep(until: clock.uptime + pause) }
            } catch {
                throw try call.failure(error)
            }
        }
    }

    /// Performs a step of a call that other code takes part in, which may ignore its cancellation. The step is left
    /// behind when the grace after the deadline of the call has passed, or the call is cancelled.
    ///
    /// - Throws: What the step throws; ``NetworkError`` with code `timedOut`; `CancellationError`.
    func limited<Value: Sendable>(
        _ call: CallState, to wait: NetworkError.Wait, grace: Duration = .zero,
        _ step: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let limit = call.deadline.map { $0 - call.startedAt }
        return try await deadlines.limit(call.deadline.map { $0 + grace }) {
            let reason = "waited for \(wait) until the deadline of \(limit?.inWords ?? "the call")"
            return NetworkError(.timedOut, reason: reason, waitedFor: wait)
        } _: {
            try await step()
        }
    }

    private func start<Response>(
        _ endpoint: Endpoint<Response>, _ options: RequestOptions, _ rules: CallAuthentication.Rules?,
        _ purpose: HTTPTransportRequest.Purpose
    ) throws -> CallState {
        let startedAt = clock.uptime
        do {
            let settings = configuration.settings(of: endpoint, options, purpose: purpose)
            let deadline = (settings.deadline ?? settings.timeLimit).map { startedAt + $0 }
            let head = try configuration.request(for: endpoint)
            return CallState(
                endpoint: head,
                body: try endpoint.body.encoded(by: configuration.coding),
                form: endpoint.body.form,
                settings: consume settings,
                deadline: deadline,
                endsWithBody: purpose == .call,
                options: options,
                interceptors: options.interceptors.isEmpty ? interceptors : interceptors + options.interceptors,
                secrets: endpoint.path.secrets + endpoint.settings.secrets.values,
                clock: clock,
                startedAt: startedAt,
                authentication: rules.map { CallAuthentication($0, continuity: options.continuity) },
                head: head,
                phases: observers.isEmpty ? nil : CallPhases(clock: clock)
            )
        } catch {
            throw endBeforeStart(endpoint, options, with: error)
        }
    }

    /// The end of a call that has no request.
    private func endBeforeStart<Response>(
        _ endpoint: Endpoint<Response>, _ options: RequestOptions, with error: any Error
    ) -> any Error {
        guard var failure = try? NetworkError(describing: error, otherwise: .invalidRequest) else { return error }
        let request = configuration.summary(of: endpoint)
        failure.request = request
        failure.isOfCall = true
        let id = UUID()
        for kind in [NetworkEvent.Kind.started, .failed(failure.code, status: nil)] {
            notify(
                NetworkEvent(
                    kind: kind, id: id, attempt: 0, request: request, uptime: clock.uptime, tags: options.tags))
        }
        return failure
    }

    /// Notifies the observers. Nothing is made where there is none.
    func notify(_ kind: @autoclosure () -> NetworkEvent.Kind, of call: CallState) {
        guard !observers.isEmpty else { return }
        notify(
            NetworkEvent(
                kind: kind(), id: call.id, attempt: call.attempt, request: call.summary, uptime: clock.uptime,
                tags: call.options.tags, timings: call.phases?.timings))
    }

    private func notify(_ event: NetworkEvent) { for observer in observers { observer.receive(event) } }
}
