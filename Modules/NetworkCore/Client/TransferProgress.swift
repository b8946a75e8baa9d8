/// How far a transfer has come.
public struct TransferProgress: Sendable, Hashable {
    /// The bytes transferred in this attempt. It never falls within an attempt; a retry starts over.
    public let completed: Int64

    /// The bytes to transfer, where that is known.
    public let total: Int64?

    /// Creates progress.
    ///
    /// - Parameters:
    ///   - completed: The bytes transferred.
    ///   - total: The bytes to transfer, where that is known.
    public init(completed: Int64, total: Int64?) {
        self.completed = completed
        self.total = total
    }

    /// The part that is done, from 0 to 1. `nil` where the total is not known; 1 where there is nothing to transfer.
    public var fraction: Double? {
        total.map { $0 > 0 ? min(1, Double(completed) / Double($0)) : 1 }
    }
}

/// Hears of progress, on any thread, in order. It should return quickly: the transfer waits for it.
public typealias ProgressHandler = @Sendable (TransferProgress) -> Void
