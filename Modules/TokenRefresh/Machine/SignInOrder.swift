import AuthInterface
import Foundation

/// The order of sign-ins, as far as this process knows it (rule 10): one number, which no clock can change.
///
/// A sign-in comes after everything that was read or issued before it was asked for. It ends that, and so does a
/// sign-out; what was asked for later has a greater ordinal. Where nothing was read, what is lower than now ends.
struct SignInOrder: Hashable, Sendable {
    /// `nil`: there was none.
    private var highest: SessionOrdinal?
    /// Whether the store, or something in the journal, was read.
    private var isKnown = false

    /// The store was read or written, or could not be and the journal names an ordinal.
    mutating func learn(_ stored: StoredSession?, journal: SessionOrdinal? = nil) {
        highest = [highest, stored?.ordinal, journal].compactMap(\.self).max()
        if stored != nil || journal != nil { isKnown = true }
    }

    /// The ordinal of a sign-in, and up to which one it ends others. `nil`: there is none to end.
    mutating func begin(at date: Date) -> (ordinal: SessionOrdinal, ends: SessionOrdinal?) {
        let ordinal = max(highest?.next ?? .unknown, SessionOrdinal(at: date))
        let ends = isKnown ? highest : ordinal.previous
        highest = ordinal
        return (ordinal, ends)
    }

    /// Up to which ordinal a sign-out ends sessions. Where there is none to end, an end is told from that of an earlier
    /// version, which has no ordinal.
    mutating func end(at date: Date) -> SessionOrdinal {
        let end = max(highest ?? .unknown, isKnown ? .unknown.next : SessionOrdinal(at: date).previous)
        highest = end
        return end
    }
}
