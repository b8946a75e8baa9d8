import AuthInterface
import ConcurrencyPrimitives
import Foundation

struct CallState: Sendable {
    let id = UUID.ofCall()
    let endpoint: HTTPRequestHead
    /// What is sent, and its parts, where it is a form of parts.
    let body: HTTPBody
    let form: MultipartForm?
    let settings: ResolvedSettings
    /// When the body of the response must be there, or of a stream its head, on the clock's uptime.
    var deadline: Duration?
    /// Whether the deadline is that of the body.
    let endsWithBody: Bool
    let options: RequestOptions
    /// The client's, then those of the options.
    let interceptors: [any RequestInterceptor]
    /// What the endpoint marks as secrets: in its path, and the tokens of a refresh.
    let secrets: [String]
    let clock: any TimeSource
    let startedAt: Duration

    /// The tokens of the call; `nil` in a client without authentication.
    var authentication: CallAuthentication?

    /// The number of the attempt, from 1.
    var attempt = 0

    /// The last request: the endpoint's, then as interceptors adapted it, then where redirects led.
    var head: HTTPRequestHead

    /// The status and the size of the response that was accepted, for observers.
    var accepted = (status: 0, bytes: 0)

    /// Whether a redirect has led to the last request.
    var isRedirected = false

    /// Whether a kept connection will not do: a server has refused the one before (421), or it was lost.
    var needsNewConnection = false

    /// What the phases of the last attempt took; `nil` where there is no observer.
    let phases: CallPhases?

    /// Whether the last request has the body: a redirect may drop it.
    var keepsBody = true

    /// See ``RequestContext/retries``. What is no retry has a limit of its own.
    var retries: Int { attempt - 1 - (authentication.map { $0.replacements + $0.challenges } ?? 0) }

    /// What interceptors and transports are told.
    var context: RequestContext {
        var context = RequestContext(
            id: id, attempt: attempt, retries: retries, method: endpoint.method, isIdempotent: settings.isIdempotent,
            isReplayable: body.isReplayable, session: authentication?.carried?.session, tags: options.tags,
            clock: clock)
        context.secrets = secrets
        context.hasIdempotencyKey = settings.hasIdempotencyKey
        context.needsNewConnection = needsNewConnection
        return context
    }

    /// What the transport is told. The session is that of the call also where a redirect has left the origin of its
    /// token, because what such a response shows is for this session.
    var exchangeContext: RequestContext {
        var context = context
        // A request without a body that nothing has changed shows what the call has to send.
        if isRedirected || !body.isEmpty || !interceptors.isEmpty { context.message = message }
        guard authentication != nil, settings.requiresAuthentication else { return context }
        context.session = authentication?.session
        context.carried = authentication?.secrets ?? []
        return context
    }

    /// The least that is sent of the body, where it is an upload. It has no total deadline but the caller's.
    var minimumRate: MinimumRate? { keepsBody && !body.isEmpty ? options.minimumRate : nil }

    /// Begins a wait: an upload has a deadline for each.
    mutating func renewDeadline(at uptime: @autoclosure () -> Duration) {
        guard options.minimumRate != nil, settings.deadline == nil else { return }
        deadline = settings.timeLimit.map { uptime() + $0 }
    }

    /// The time left until the deadline, from an instant of the clock's uptime.
    func timeLeft(at uptime: Duration) -> Duration? { deadline.map { $0 - uptime } }

    /// Whether the request is sent once more, without asking a retry policy, after an exchange that has failed.
    func isRepeated(after repetition: HTTPTransportError.Repetition) -> Bool {
        switch repetition {
        case .unknown: false
        case .ifIdempotent: settings.isIdempotent && body.isReplayable && settings.retries
        case .always: body.isReplayable
        }
    }

    /// What the call has to send.
    private var message: CallMessage {
        CallMessage(head: endpoint, body: body, form: form, isRedirected: isRedirected)
    }

    /// What may be shown of the last request to observers. The target of a redirect may quote any secret of the call.
    var summary: RequestSummary {
        RequestSummary(head, isRedirected ? redaction : Redaction(secrets: secrets), of: message)
    }

    /// Converts any error of an attempt to an error of the call, with the last request, the attempt and the elapsed
    /// time, and without the secrets of the call.
    ///
    /// - Throws: `CancellationError`, if that is the error.
    func failure(_ error: any Error) throws -> NetworkError {
        var failure = try NetworkError(describing: error)
        guard !failure.isOfCall else { return failure }
        let redaction = redaction
        failure = failure.redacted(by: redaction)
        failure.request = RequestSummary(head, redaction, of: message)
        failure.attempt = attempt
        failure.elapsed = clock.uptime - startedAt
        failure.isOfCall = true
        return failure
    }

    /// Without the secrets that the call carried, in any attempt. It is made when a call fails.
    private var redaction: Redaction {
        var carried = CarriedSecrets(secrets + (authentication?.secrets ?? []))
        carried.add(message)
        if head != endpoint { carried.add(head) }
        return Redaction(carried)
    }
}

extension UUID {
    private static let generator = Locked(SplitMix64(seed: .random(in: 0...UInt64.max)))

    /// A random identifier (RFC 9562 §5.4) that is no secret, without the system calls of `UUID()`.
    fileprivate static func ofCall() -> UUID {
        let (first, second) = generator.withLock { ($0.next(), $0.next()) }
        let words = (first & ~(0xF0 << 48) | (0x40 << 48), second & ~0xC0 | 0x80)
        return withUnsafeBytes(of: words) { UUID(uuid: $0.load(as: uuid_t.self)) }
    }
}
