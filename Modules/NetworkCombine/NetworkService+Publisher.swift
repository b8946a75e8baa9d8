#if canImport(Combine)
@preconcurrency public import Combine
#elseif OpenCombine
@preconcurrency public import OpenCombine
#endif

#if canImport(Combine) || OpenCombine
public import NetworkCore

extension NetworkService {
    /// A publisher of the value of a call.
    ///
    /// Each subscriber starts a call of its own with its first demand. Cancelling the subscription cancels the call.
    ///
    /// The value arrives on any thread, so add `receive(on:)` before a closure that changes a screen. A closure in
    /// main-actor code is inferred to be isolated to the main actor, and traps on another thread.
    ///
    /// - Parameters:
    ///   - endpoint: The call.
    ///   - progress: Called as the body is sent.
    /// - Returns: A publisher of one value, or of the ``NetworkError`` of the call.
    public func publisher<Response>(
        for endpoint: Endpoint<Response>,
        progress: ProgressHandler? = nil
    ) -> AnyPublisher<Response, NetworkError> {
        CallPublisher(service: self, endpoint: endpoint, progress: progress).eraseToAnyPublisher()
    }
}

extension NetworkError.Code {
    /// The service cancelled the call, although no subscription was cancelled.
    public static let cancelled = Self(rawValue: "cancelled")
}

/// Publishes the outcome of one call to each subscriber.
private struct CallPublisher<Output: Sendable>: Publisher {
    typealias Failure = NetworkError

    let service: any NetworkService
    let endpoint: Endpoint<Output>
    let progress: ProgressHandler?

    func receive<Downstream: Subscriber>(
        subscriber: Downstream
    ) where Downstream.Input == Output, Downstream.Failure == NetworkError {
        let call: @Sendable () async throws -> Output = { [service, endpoint, progress] in
            try await service.send(endpoint, progress: progress)
        }
        subscriber.receive(subscription: CallSubscription(AnySubscriber(subscriber), call: call))
    }
}
#endif
