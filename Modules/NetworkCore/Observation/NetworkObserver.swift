/// Receives the events of calls, for logs, measurements and diagrams.
public protocol NetworkObserver: Sendable {
    /// Receives one event.
    ///
    /// The events of one call arrive in order, on any thread. The call continues when this returns.
    ///
    /// - Parameter event: The event.
    func receive(_ event: NetworkEvent)
}
