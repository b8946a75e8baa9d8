/// What one caller wants of one call, beside the endpoint.
public struct RequestOptions: Sendable {
    /// Is called as the body is sent.
    public var progress: ProgressHandler?

    /// The time limit of the whole call, as ``NetworkConfiguration/deadline``. `nil`: the endpoint's, or the client's.
    public var deadline: Duration?

    /// The least that is sent of the request's body, which is an upload then: it has no total deadline, unless
    /// ``deadline`` or the endpoint sets one. The client's deadline limits each of its waits: for a token, for a
    /// connection, and, when the body was sent, for the response. `nil`: the call is no upload.
    public var minimumRate: MinimumRate?

    /// Interceptors of this call, after those of the client.
    public var interceptors: [any RequestInterceptor] = []

    /// Words of the caller's own, for interceptors, transports and observers. They must hold no secret.
    public var tags: [String: String] = [:]

    /// The calls that stay with one session together. `nil`: this call alone.
    public var continuity: SessionContinuity?

    /// Creates options that ask for nothing.
    public init() {}
}

/// Receives progress, in order and on any thread. The transfer continues when it returns.
public typealias ProgressHandler = @Sendable (TransferProgress) -> Void

/// The progress of a transfer.
public struct TransferProgress: Sendable, Hashable {
    /// The bytes transferred in this attempt. It never decreases within an attempt; a retry starts at zero.
    public let completed: Int64

    /// The bytes to transfer, if the number is known.
    public let total: Int64?

    /// Creates progress.
    public init(completed: Int64, total: Int64?) {
        self.completed = completed
        self.total = total
    }

    /// The part that is done, from 0 to 1. `nil`: the total is not known. 1 if there is nothing to transfer.
    public var fraction: Double? { total.map { $0 > 0 ? min(1, Double(completed) / Double($0)) : 1 } }
}
