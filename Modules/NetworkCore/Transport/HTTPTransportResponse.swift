/// One response: its head, and its body as it arrives.
public struct HTTPTransportResponse: Sendable {
    /// Status, header fields and URL.
    public var head: HTTPResponseHead

    /// The body. One reader reads it, once; releasing it before its end ends the exchange. It throws
    /// ``HTTPTransportError`` when it breaks off.
    public var body: HTTPBody

    private let end: @Sendable () async throws -> HTTPTransportCompletion

    /// Creates a response.
    ///
    /// - Parameters:
    ///   - head: Status, header fields and URL.
    ///   - body: The body.
    ///   - completion: Waits for the end of the body and says what came with it.
    public init(
        head: HTTPResponseHead,
        body: HTTPBody = .none,
        completion: @escaping @Sendable () async throws -> HTTPTransportCompletion = { HTTPTransportCompletion() }
    ) {
        self.head = head
        self.body = body
        end = completion
    }

    /// Waits for the end of the body. It does not read the body: something else must.
    ///
    /// - Returns: What came with the end.
    /// - Throws: ``HTTPTransportError`` when the body broke off; `CancellationError` when the task is cancelled, or the
    ///   body was released before its end.
    public func completion() async throws -> HTTPTransportCompletion {
        try await end()
    }
}
