/// What one caller wants of one call, beside the endpoint.
public struct RequestOptions: Sendable {
    /// Is called as the body is sent.
    public var progress: ProgressHandler?

    /// The longest time to the head of the response: the waits for a token and for a connection, pauses and all
    /// attempts included. `nil`: the endpoint's, or the client's.
    public var deadline: Duration?

    /// Interceptors of this call, after those of the client.
    public var interceptors: [any RequestInterceptor]

    /// Words of the caller's own, for interceptors, transports and observers. They must hold no secret.
    public var tags: [String: String]

    /// Creates options.
    ///
    /// - Parameters:
    ///   - progress: Is called as the body is sent.
    ///   - deadline: The longest time to the head of the response. `nil`: the endpoint's, or the client's.
    ///   - interceptors: Interceptors of this call, after those of the client.
    ///   - tags: Words of the caller's own. They must hold no secret.
    public init(
        progress: ProgressHandler? = nil,
        deadline: Duration? = nil,
        interceptors: [any RequestInterceptor] = [],
        tags: [String: String] = [:]
    ) {
        self.progress = progress
        self.deadline = deadline
        self.interceptors = interceptors
        self.tags = tags
    }
}
