/// Sends requests. Other modules depend on this protocol only.
///
/// ```swift
/// let page = try await network.send(.articles())
/// try await network.send(.registerGuest(name: "Ada", photo: photo)) { progress in bar.show(progress) }
/// ```
public protocol NetworkService: Sendable {
    /// Sends a request, with retries, and reads the response.
    ///
    /// - Parameters:
    ///   - endpoint: The call.
    ///   - progress: Called as the body is sent.
    /// - Returns: The value of the response.
    /// - Throws: ``NetworkError`` for every failure, and `CancellationError` at once when the task is cancelled.
    func send<Response>(_ endpoint: Endpoint<Response>, progress: ProgressHandler?) async throws -> Response
}

extension NetworkService {
    /// Sends a request, with retries, and reads the response.
    ///
    /// - Parameter endpoint: The call.
    /// - Returns: The value of the response.
    /// - Throws: ``NetworkError`` for every failure, and `CancellationError` at once when the task is cancelled.
    @discardableResult
    public func send<Response>(_ endpoint: Endpoint<Response>) async throws -> Response {
        try await send(endpoint, progress: nil)
    }
}
