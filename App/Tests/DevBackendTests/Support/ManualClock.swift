import Foundation
import NIOConcurrencyHelpers

/// A wall clock that a test advances.
final class ManualClock: Sendable {
    private let time: NIOLockedValueBox<Date>

    init(_ start: Date = Date(timeIntervalSince1970: 1_800_000_000)) {
        time = NIOLockedValueBox(start)
    }

    var now: Date { time.withLockedValue { $0 } }

    func advance(by duration: Duration) {
        time.withLockedValue { $0.addTimeInterval(Double(duration.components.seconds)) }
    }
}
