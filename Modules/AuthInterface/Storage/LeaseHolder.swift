public import Foundation

/// The process that keeps others from refreshing a shared session: it has the lease, or may still be calling.
///
/// A process that is stopped keeps a lease for as long as it is stopped. A support screen and an error name it (G24).
public struct LeaseHolder: Sendable, Hashable, Codable {
    /// The process.
    public let process: ProcessIdentity

    /// Since when it has the lease, or calls: on its clock, or on that of the database. `nil`: not known.
    public let since: Date?

    /// Creates a holder.
    public init(process: ProcessIdentity, since: Date?) {
        self.process = process
        self.since = since
    }
}

extension LeaseHolder: CustomStringConvertible {
    /// The process, its host where it is another one, and since when.
    public var description: String {
        let start = since.map { " since \($0.shown)" } ?? ""
        if ProcessIdentity.current.includes(process) { return "this process\(start)" }
        let place = process.host == ProcessIdentity.current.host ? "of this host" : "of host \(process.host)"
        return "process \(process) \(place)\(start)"
    }
}
