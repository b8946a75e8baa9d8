/// Hears what becomes of calls: for logs, measurements and pictures. Events never hold a secret (G17).
public protocol NetworkObserver: Sendable {
    /// Hears of one event. It is called in order for one call, on any thread, and should return quickly.
    ///
    /// - Parameter event: What happened.
    func receive(_ event: NetworkEvent)
}
