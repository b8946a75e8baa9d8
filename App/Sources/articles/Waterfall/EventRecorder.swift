import NetworkCore

/// Keeps what happened on the network, for the picture of it.
final class EventRecorder: NetworkObserver {
    private let kept = Guarded<[NetworkEvent]>([])

    func receive(_ event: NetworkEvent) {
        kept.withLock { $0.append(event) }
    }

    /// All that has happened so far.
    var events: [NetworkEvent] { kept.withLock { $0 } }
}
