import AuthInterface

/// How the call of an endpoint is made, and its response read. Where a setting is `nil`, the configuration's counts.
public struct CallSettings: Sendable {
    /// Header fields of this call. They replace the configuration's fields of the same names.
    public var headers: HTTPHeaders = [:]

    /// Whether an authenticated client adds tokens. A client without authentication never adds any.
    public var requiresAuthentication = true

    /// The value of `Idempotency-Key`, by which the server recognizes a call that is sent twice. With a key, a `POST`
    /// may be sent again too. The field among ``headers`` counts as well.
    public var idempotencyKey: String?

    /// The idle timeout: how long nothing may be sent or received. `nil`: the configuration's.
    public var timeout: Duration?

    /// The time limit of the whole call, as ``NetworkConfiguration/deadline``. `nil`: the configuration's.
    public var deadline: Duration?

    /// The statuses that count as success. `nil`: the configuration's.
    public var acceptedStatuses: HTTPStatusSet?

    /// How the response is read. `nil`: the configuration's format.
    public var format: (any ResponseFormat)?

    /// Whether interceptors, such as ``RetryPolicy``, may have the call sent again. A token that the server has refused
    /// is replaced all the same, and a request that the server has not processed is sent once more: see
    /// ``HTTPTransportError/Repetition``.
    public var retries = true

    /// Which redirects are followed. `nil`: a call that may change something and carries no token, such as a sign-in,
    /// stays within its origin; others leave it without token and body.
    public var redirects: RedirectRule?

    /// The right to send the call, where it ends (G28).
    var startPermit: StartPermit?

    /// What the call sends under a name that need not denote a secret.
    var secrets = HiddenSecrets()

    /// What the call is for; `nil`: an ordinary one.
    var purpose: HTTPTransportRequest.Purpose?

    /// The field of a call without retries, such as one for tokens, is for the caller's own repetition.
    var hasIdempotencyKey: Bool { idempotencyKey != nil || (retries && headers.first(of: "Idempotency-Key") != nil) }
}

/// The settings that count for one call. Those without a default of the client are the endpoint's own.
@dynamicMemberLookup
struct ResolvedSettings: Sendable {
    fileprivate let own: CallSettings
    let isIdempotent: Bool
    let timeout: Duration
    let acceptedStatuses: HTTPStatusSet
    let format: any ResponseFormat
    let purpose: HTTPTransportRequest.Purpose

    /// The caller's deadline, or else the endpoint's.
    let deadline: Duration?

    /// The client's deadline, which is never shorter than the idle timeout. For an upload, it limits each wait.
    let timeLimit: Duration?

    subscript<Value>(dynamicMember setting: KeyPath<CallSettings, Value>) -> Value { own[keyPath: setting] }
}

extension NetworkConfiguration {
    /// The settings of a call. The caller's options count before the endpoint, and the endpoint before these.
    func settings<Response>(
        of endpoint: Endpoint<Response>, _ options: RequestOptions, purpose: HTTPTransportRequest.Purpose
    ) -> ResolvedSettings {
        let timeout = endpoint.settings.timeout ?? timeout
        return ResolvedSettings(
            own: endpoint.settings,
            isIdempotent: endpoint.isIdempotent,
            timeout: timeout,
            acceptedStatuses: endpoint.settings.acceptedStatuses ?? acceptedStatuses,
            format: endpoint.settings.format ?? format,
            purpose: endpoint.settings.purpose ?? purpose,
            deadline: options.deadline ?? endpoint.settings.deadline,
            timeLimit: deadline.map { max($0, timeout) }
        )
    }
}
