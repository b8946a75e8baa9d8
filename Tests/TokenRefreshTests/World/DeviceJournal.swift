import AuthInterface
import Foundation

@testable import TokenRefresh

/// The journal of a device: it works, fails or hangs.
struct DeviceJournal {
    enum Condition {
        case works, fails, hangs
    }

    var entry = SessionJournalEntry()
    var condition = Condition.works
    var fault: World.Fault?

    func read() -> Result<SessionJournalEntry, TokenStoreError> {
        condition == .fails ? .failure(.simulated) : .success(entry)
    }

    mutating func write(_ edit: JournalEdit, at date: Date) -> Result<SessionJournalEntry, TokenStoreError> {
        if condition == .fails { return .failure(.simulated) }
        if fault != .endingsAreNotNoted || !edit.isEnding { entry = edit.applied(to: entry, store: "store", at: date) }
        return .success(entry)
    }
}

extension JournalEdit {
    fileprivate var isEnding: Bool { notes.contains { if case .ending = $0 { true } else { false } } }
}
