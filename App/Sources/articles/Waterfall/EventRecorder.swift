import NIOConcurrencyHelpers
import NetworkCore

/// Records the network's events for the waterfall.
final class EventRecorder: NetworkObserver {
    private let recorded = NIOLockedValueBox<[NetworkEvent]>([])

    func receive(_ event: NetworkEvent) {
        recorded.withLockedValue { $0.append(event) }
    }

    /// The events so far.
    var events: [NetworkEvent] { recorded.withLockedValue { $0 } }
}
