/// Sends requests. Other modules depend on this protocol only.
///
/// ```swift
/// let page = try await network.send(.articles())
/// let article = try await network.send(.create(draft), deadline: .seconds(10))
/// try await network.send(.registerGuest(name: "Ada", photo: photo)) { progress in bar.show(progress) }
/// ```
public protocol NetworkService: Sendable {
    /// Sends a request, with retries, and reads the response.
    ///
    /// - Throws: ``NetworkError`` for every failure, and `CancellationError` at once when the task is cancelled.
    func send<Response>(_ endpoint: Endpoint<Response>, options: RequestOptions) async throws -> Response

    /// Sends a request, with retries, and returns as soon as the head of an accepted response is there.
    ///
    /// - Returns: The head, and the body as it arrives: one reader reads it, once, and releasing it ends the exchange.
    ///   The body throws ``NetworkError`` when it breaks off; it is not sent again.
    /// - Throws: ``NetworkError`` for every failure, and `CancellationError` at once when the task is cancelled.
    func stream<Response>(_ endpoint: Endpoint<Response>, options: RequestOptions) async throws -> HTTPTransportResponse
}

extension NetworkService {
    /// ``send(_:options:)`` with the most frequent options. Without a deadline, the time limit is the endpoint's, or
    /// else the client's. The progress is that of the body sent.
    @discardableResult
    public func send<Response>(
        _ endpoint: Endpoint<Response>, deadline: Duration? = nil, progress: ProgressHandler? = nil
    ) async throws -> Response {
        var options = RequestOptions()
        (options.progress, options.deadline) = (progress, deadline)
        return try await send(endpoint, options: options)
    }

    /// ``stream(_:options:)`` without options.
    public func stream<Response>(_ endpoint: Endpoint<Response>) async throws -> HTTPTransportResponse {
        try await stream(endpoint, options: RequestOptions())
    }
}

/// A network service that never authenticates a request.
///
/// A refresh handler takes such a service: an authenticated call would wait for the refresh that it is part of (G20).
/// ``NetworkClient/authenticated(by:policy:)`` returns a type that does not conform, so that this mistake does not
/// compile. A type of your own may conform only if it never asks a `TokenProvider` for a token.
public protocol UnauthenticatedNetworkService: NetworkService {}
