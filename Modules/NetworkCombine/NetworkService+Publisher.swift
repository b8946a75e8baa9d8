#if canImport(Combine)
@preconcurrency public import Combine
#elseif OpenCombine
@preconcurrency public import OpenCombine
#endif

#if canImport(Combine) || OpenCombine
public import NetworkCore

extension NetworkService {
    /// A call as a publisher (row N10).
    ///
    /// Nothing is sent before a subscriber asks for a value, and each subscriber makes a call of its own. Cancelling
    /// the subscription cancels the call.
    ///
    /// The value comes on any thread: put `receive(on:)` after it before you touch a screen. A closure written in
    /// main-actor code is taken to be on the main actor and stops the program when it is not.
    ///
    /// - Parameters:
    ///   - endpoint: The call.
    ///   - progress: Hears how much of the body is sent.
    /// - Returns: A publisher of one value, or of the ``NetworkError`` the call failed with.
    public func publisher<Response>(
        for endpoint: Endpoint<Response>,
        progress: ProgressHandler? = nil
    ) -> AnyPublisher<Response, NetworkError> {
        CallPublisher(service: self, endpoint: endpoint, progress: progress).eraseToAnyPublisher()
    }
}

extension NetworkError.Code {
    /// The service gave the call up although no subscription was cancelled.
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
