import AuthInterface
import ConcurrencyPrimitives

// One attempt: adapt, exchange, redirects; and whether another one follows.
extension NetworkClient {
    /// A redirect's body is read to its end if it is no longer than this, so that the connection can be used again.
    private static let longestDrainedBody = 16 * 1_024

    /// How much longer than its time limit a call waits for a transport that may not look at it.
    private static let graceOfTransport: Duration = .seconds(1)

    func attempt(_ call: inout CallState) async throws -> HTTPTransportResponse {
        try await adapt(&call)
        // An authenticated client, too, sends requests without a token: to other origins.
        let carriesToken = call.authentication?.carried != nil
        let policy = RedirectPolicy(
            cleartextExceptions: configuration.cleartextExceptions,
            rule: call.settings.redirects ?? .standard(for: call.head.method, carriesToken: carriesToken))
        var visited: [HTTPRequestHead] = []
        while true {
            let response = try await perform(&call)
            call.renewDeadline(at: clock.uptime)
            call.authentication?.note(response.head, from: call.head.url, after: clock.uptime - call.startedAt)
            let decision = policy.decision(
                for: response.head, to: call.head, hasBody: call.keepsBody && !call.body.isEmpty,
                isReplayable: call.body.isReplayable)
            switch decision {
            case .none:
                return response
            case .refuse(let code, let reason):
                throw NetworkError(code, reason: "the redirect was not followed: \(reason)", response: response.head)
            case .follow(let next):
                try await drain(response, of: call)
                var redirected = call
                (redirected.head, redirected.isRedirected) = (next.request, true)
                notify(.redirected(status: response.head.status, to: redirected.summary), of: call)
                visited.append(call.head)
                (call.head, call.keepsBody, call.isRedirected) = (next.request, next.keepsBody, true)
                if next.leavesOrigin { call.authentication?.forgetToken() }
                guard !visited.contains(where: { $0.method == call.head.method && $0.url == call.head.url }) else {
                    throw NetworkError(.tooManyRedirects, reason: "the redirects form a loop")
                }
                guard visited.count <= configuration.maximumRedirects else {
                    let reason = "more than \(configuration.maximumRedirects) redirects"
                    throw NetworkError(.tooManyRedirects, reason: reason)
                }
                try await renewProof(of: &call)
            }
        }
    }

    private func adapt(_ call: inout CallState) async throws {
        call.phases?.startAttempt()
        (call.head, call.keepsBody, call.isRedirected) = (call.endpoint, true, false)
        // No token travels in what interceptors see, so none is named to them.
        call.authentication?.forgetToken()
        for interceptor in call.interceptors {
            call.head = try await asking(call) { [head = call.head, context = call.context] in
                try await interceptor.adapt(head, context: context)
            }
        }
        let origin = try call.head.validate()
        try configuration.refuseCleartext(origin)
        guard call.settings.requiresAuthentication else { return }
        call.phases?.note(.tokenWait)
        guard let isPlaced = try call.authentication?.placeToken(in: &call.head, to: origin) else { return }
        if !isPlaced {
            let head = try await withTokens(of: &call) { [head = call.head] in
                try await $0.placeAwaitedToken(in: head)
            }
            if let head { call.head = head }
        }
        call.phases?.end(\.token, since: .tokenWait)
    }

    /// Runs a step on a copy of the call's tokens, and keeps the copy if the step ends in time. `nil`: it has none.
    private func withTokens<Value: Sendable>(
        of call: inout CallState, _ step: @escaping @Sendable (inout CallAuthentication) async throws -> Value
    ) async throws -> Value? {
        guard let tokens = call.authentication else { return nil }
        let (changed, value) = try await limited(call, to: .token) {
            var tokens = tokens
            let value = try await step(&tokens)
            return (tokens, value)
        }
        call.authentication = changed
        return value
    }

    private func asking<Decision: Sendable>(
        _ call: CallState, _ question: @escaping @Sendable () async throws -> Decision
    ) async throws -> Decision {
        do {
            return try await limited(call, to: .interceptor, question)
        } catch {
            throw try NetworkError(describing: error, otherwise: .interceptorFailed)
        }
    }

    /// Sends the request, and once more where the transport knows that it may be.
    private func perform(_ call: inout CallState) async throws -> HTTPTransportResponse {
        do {
            return try await exchange(call)
        } catch let error as HTTPTransportError where call.isRepeated(after: error.repetition) {
            call.renewDeadline(at: clock.uptime)
            // Another kept one may be as old.
            call.needsNewConnection = true
            try await renewProof(of: &call)
            return try await exchange(call)
        }
    }

    /// A proof is valid for one request: what sends another one for the same token needs another proof.
    private func renewProof(of call: inout CallState) async throws {
        guard call.authentication?.carriesProof == true else { return }
        let head = try await withTokens(of: &call) { [head = call.head] in try await $0.prove(head) }
        if let head { call.head = head }
    }

    private func exchange(_ call: CallState) async throws -> HTTPTransportResponse {
        let timeToHead = call.timeLeft(at: clock.uptime)
        if let timeToHead, timeToHead <= .zero {
            throw NetworkError(.timedOut, reason: "the deadline has passed", waitedFor: .responseHead)
        }
        call.phases?.note(.exchange)
        notify(.sent, of: call)
        let response: HTTPTransportResponse
        do {
            if let rate = call.minimumRate {
                response = try await upload(call, atLeast: rate)
            } else {
                let request = request(of: call, timeToHead: timeToHead)
                // A transport knows more of the reason than the client, so it may notice first.
                let grace = Self.graceOfTransport
                response =
                    try await transport.endsInTime
                    ? transport.perform(request)
                    : limited(call, to: .responseHead, grace: grace) { try await transport.perform(request) }
            }
        } catch {
            // A custom transport may report cancellation as another error.
            try Task.checkCancellation()
            throw error
        }
        call.phases?.note(.head)
        call.phases?.end(\.firstByte, since: .exchange)
        notify(.responded(status: response.head.status), of: call)
        try response.head.validate()
        return response
    }

    /// Sends a body that has a minimum rate. The transport has no time limit then but that of silence.
    private func upload(_ call: CallState, atLeast rate: MinimumRate) async throws -> HTTPTransportResponse {
        let watch = UploadWatch(rate, timeLimit: call.settings.timeLimit, clock: clock)
        var request = request(of: call, timeToHead: nil)
        request.onEvent = { [handler = request.onEvent] event in
            if event.kind == .sent, let sent = event.progress { watch.record(sent) }
            handler?(event)
        }
        if request.body.length == nil { request.body = request.body.notingEnd(watch.recordEnd) }
        let end = call.settings.deadline == nil ? nil : call.deadline
        let first = watch.nextLook(at: clock.uptime)
        return try await deadlines.limit(min(first ?? .zero, end ?? first ?? .zero)) { [clock] in
            let now = clock.uptime
            guard end.map({ now < $0 }) ?? true, let next = watch.nextLook(at: now) else { return nil }
            return min(next, end ?? next)
        } expired: { [clock] in
            guard let end, clock.uptime >= end else { return watch.error }
            return NetworkError(.timedOut, reason: "the deadline has passed", waitedFor: .requestBody)
        } _: { [request] in
            try await transport.perform(request)
        }
    }

    private func request(of call: CallState, timeToHead: Duration?) -> HTTPTransportRequest {
        HTTPTransportRequest(
            head: call.head, body: call.keepsBody ? call.body : .none, idleTimeout: call.settings.timeout,
            timeToHead: timeToHead, timeToEnd: call.endsWithBody ? timeToHead : nil, purpose: call.settings.purpose,
            startPermit: call.settings.startPermit, context: call.exchangeContext, onEvent: Self.handler(of: call))
    }

    private static func handler(of call: CallState) -> (@Sendable (HTTPTransportEvent) -> Void)? {
        let (progress, phases) = (call.options.progress, call.phases)
        guard progress != nil || phases != nil else { return nil }
        return { event in
            if event.kind == .connected { phases?.end(\.connection, since: .exchange) }
            if let queued = event.metrics?.queued { phases?.setConnectionWait(queued) }
            if event.kind == .sent, let sent = event.progress { progress?(sent) }
        }
    }

    private func drain(_ response: HTTPTransportResponse, of call: CallState) async throws {
        guard let length = response.head.bodyLength(to: call.head), length <= Self.longestDrainedBody else { return }
        _ = try? await collect(response, of: call, limit: Self.longestDrainedBody)
        try Task.checkCancellation()
    }

    /// Asks whether a failed request is sent again, and after which pause.
    ///
    /// - Throws: The failure, when it is not sent again, its body cannot be, or the pause would outlast the deadline.
    func pauseBeforeRetry(after failure: NetworkError, of call: inout CallState) async throws -> Duration {
        call.renewDeadline(at: clock.uptime)
        if let left = call.timeLeft(at: clock.uptime), left <= .zero {
            throw call.authentication?.late(failure) ?? failure
        }
        let isReplayable = call.body.isReplayable
        var decision =
            try await withTokens(of: &call) { try await $0.retry(failure, isReplayable: isReplayable) } ?? .doNotRetry
        let isForToken = decision != .doNotRetry
        for interceptor in call.interceptors
        where call.settings.retries && decision == .doNotRetry && call.retries + 1 < configuration.maximumAttempts {
            decision = try await asking(call) { [context = call.context] in
                try await interceptor.retry(failure, context: context)
            }
        }
        guard case .retry(let pause) = decision else { throw failure }
        guard isReplayable else { throw failure.becauseOfOneShotBody() }
        guard let left = call.timeLeft(at: clock.uptime), left <= pause else { return pause }
        throw isForToken ? NetworkError.tokenIsLate : failure
    }
}
