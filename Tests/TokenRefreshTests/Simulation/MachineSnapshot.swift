import AuthInterface
import ConcurrencyPrimitives

@testable import TokenRefresh

/// What the laws need of a machine before an event, and the event.
struct MachineSnapshot {
    let session: SessionID?
    let generation: Int
    let accessToken: String?
    let refreshToken: String?
    let urgency: Expiry.Urgency
    let isActivating: Bool
    let event: RefreshEvent

    init(_ process: DeviceProcess, event: RefreshEvent, at now: Instant) {
        let current = process.current
        session = current?.bundle.session
        generation = current?.bundle.generation ?? 0
        accessToken = current?.bundle.accessToken
        refreshToken = process.newest?.refreshToken
        urgency = current?.expiry.urgency(at: now.uptime) ?? .none
        isActivating = process.isActivating
        self.event = event
    }

    /// Whether the event shows the machine what the store holds.
    var showsStore: Bool {
        switch event {
        case .read, .wrote(_, .superseded): true
        default: false
        }
    }

    /// Whether the event says that a write to the store has failed, or takes too long.
    var isStoreFailure: Bool {
        switch event {
        case .wrote(_, .failed), .timerFired(.writeDeadline): true
        default: false
        }
    }

    /// What the event shows of the store.
    var shown: StoredSession? {
        switch event {
        case .read(_, .success(let found), _), .wrote(_, .superseded(let found)): found
        default: nil
        }
    }

    /// The token whose refusal the event reports.
    var refusal: TokenRefusal? {
        if case .requested(.replacement(let refusal), _) = event { refusal } else { nil }
    }
}
