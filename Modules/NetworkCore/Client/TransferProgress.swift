/// The progress of a transfer.
public struct TransferProgress: Sendable, Hashable {
    /// The bytes transferred in this attempt. It never decreases within an attempt; a retry starts at zero.
    public let completed: Int64

    /// The bytes to transfer, if the number is known.
    public let total: Int64?

    /// Creates progress.
    ///
    /// - Parameters:
    ///   - completed: The bytes transferred.
    ///   - total: The bytes to transfer, if the number is known.
    public init(completed: Int64, total: Int64?) {
        self.completed = completed
        self.total = total
    }

    /// The part that is done, from 0 to 1. `nil`: the total is not known. 1 if there is nothing to transfer.
    public var fraction: Double? {
        total.map { $0 > 0 ? min(1, Double(completed) / Double($0)) : 1 }
    }
}
