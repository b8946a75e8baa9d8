// The publisher library comes with this module: an application imports NetworkCombine, on every platform.
#if canImport(Combine)
@_exported @preconcurrency public import Combine
#elseif OpenCombine
@_exported @preconcurrency public import OpenCombine
#endif

#if canImport(Combine) || OpenCombine
public import AuthInterface
public import NetworkCore

extension NetworkService {
    /// A publisher of the value of a call.
    ///
    /// Each subscriber starts a call of its own with its first demand: two subscribers send two requests. Add `share()`
    /// for one. Cancelling the subscription cancels the call, and nothing is delivered after that.
    ///
    /// - Parameters:
    ///   - endpoint: The call.
    ///   - options: What this caller wants.
    ///   - delivery: Where the value and the completion are delivered.
    /// - Returns: A publisher of one value, or of the `NetworkError` of the call.
    public func publisher<Response>(
        for endpoint: Endpoint<Response>,
        options: RequestOptions = RequestOptions(),
        on delivery: Delivery = .main
    ) -> AnyPublisher<Response, NetworkError> {
        Producer(delivery: delivery, completion: failure) {
            { send in try await send(try await self.send(endpoint, options: options)) }
        }
        .eraseToAnyPublisher()
    }

    /// A publisher of the progress of an upload, and of the value of the call at its end.
    ///
    /// Each subscriber starts a call of its own, as with ``publisher(for:options:on:)``. A subscriber that demands less
    /// than arises receives the newest progress, and the value always.
    ///
    /// - Parameters:
    ///   - endpoint: The call.
    ///   - options: What this caller wants. Its `progress` is called too.
    ///   - delivery: Where the values and the completion are delivered.
    /// - Returns: A publisher of any number of `progress` values and one `response`, or of the `NetworkError` of the
    ///   call.
    public func progressPublisher<Response>(
        for endpoint: Endpoint<Response>,
        options: RequestOptions = RequestOptions(),
        on delivery: Delivery = .main
    ) -> AnyPublisher<CallEvent<Response>, NetworkError> {
        Producer(delivery: delivery, completion: failure) {
            { send in
                let (progress, continuation) = AsyncStream.makeStream(
                    of: TransferProgress.self, bufferingPolicy: .bufferingNewest(1))
                var options = options
                let callersProgress = options.progress
                options.progress = { value in
                    callersProgress?(value)
                    continuation.yield(value)
                }
                async let response = {
                    defer { continuation.finish() }
                    return try await self.send(endpoint, options: options)
                }()
                for await value in progress { try await send(.progress(value)) }
                try await send(.response(response))
            }
        }
        .eraseToAnyPublisher()
    }
}

extension AuthSession {
    /// A publisher of the states of the session, the current one first. A subscription keeps the session until it is
    /// cancelled.
    ///
    /// A subscriber that demands less than arises receives the newest state when it demands again.
    ///
    /// - Parameter delivery: Where the states are delivered.
    /// - Returns: A publisher that never fails.
    public func statePublisher(on delivery: Delivery = .main) -> AnyPublisher<SessionState, Never> {
        Producer(delivery: delivery, completion: { _ in .finished }) {
            let states = self.states
            return { send in for await state in states { try await send(state) } }
        }
        .eraseToAnyPublisher()
    }
}

/// What a call with an upload publishes.
public enum CallEvent<Response: Sendable>: Sendable {
    /// A part of the body was sent.
    case progress(TransferProgress)

    /// The value of the call. It comes last.
    case response(Response)
}

extension CallEvent: Equatable where Response: Equatable {}

extension NetworkError.Code {
    /// The service cancelled the call, although no subscription was cancelled.
    public static let cancelled = Self(rawValue: "cancelled")
}

@Sendable
private func failure(_ error: any Error) -> Subscribers.Completion<NetworkError> {
    switch error {
    case let error as NetworkError: .failure(error)
    case let error as CancellationError: .failure(NetworkError(.cancelled, cause: error))
    default: .failure(NetworkError(.transportFailed, cause: error))
    }
}
#endif
