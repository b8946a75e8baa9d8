/// The one thing other modules see of the network (row N2).
///
/// ```swift
/// let page = try await network.send(.articles())
/// try await network.send(.registerGuest(name: "Ada", photo: photo)) { progress in bar.show(progress) }
/// ```
public protocol NetworkService: Sendable {
    /// Sends a request, as often as retrying demands, and reads its answer.
    ///
    /// - Parameters:
    ///   - endpoint: The call.
    ///   - progress: Hears how much of the body is sent. `nil`: nobody wants to know.
    /// - Returns: What the answer was read as.
    /// - Throws: ``NetworkError``, whatever went wrong; only cancellation is another: `CancellationError`, at once
    ///   when the task is cancelled.
    func send<Response>(_ endpoint: Endpoint<Response>, progress: ProgressHandler?) async throws -> Response
}

extension NetworkService {
    /// Sends a request, as often as retrying demands, and reads its answer.
    ///
    /// - Parameter endpoint: The call.
    /// - Returns: What the answer was read as.
    /// - Throws: ``NetworkError``, or `CancellationError` at once when the task is cancelled.
    @discardableResult
    public func send<Response>(_ endpoint: Endpoint<Response>) async throws -> Response {
        try await send(endpoint, progress: nil)
    }
}

/// A network service that promises to have no authentication in it.
///
/// A refresh handler takes one of these: were its call authenticated, it would wait for the very refresh it is part
/// of (G20). What ``NetworkClient/authenticated(by:policy:)`` returns does not conform, so the mistake does not
/// compile. Conform a type of your own only if it never asks a `TokenProvider` for a token.
public protocol UnauthenticatedNetworkService: NetworkService {}
