import NetworkCore

/// Compares what arrives with a minimum rate.
struct RateMeter {
    let rate: MinimumRate
    private var waited: Duration = .zero
    private var bytes: Int64 = 0

    init(_ rate: MinimumRate) { self.rate = rate }

    /// Counts bytes that have arrived after a wait. Returns whether the transfer is fast enough so far.
    mutating func record(_ count: Int, after wait: Duration) -> Bool {
        waited += min(wait, rate.window / 2)
        bytes += Int64(count)
        guard waited >= rate.window else { return true }
        defer { (waited, bytes) = (.zero, 0) }
        return bytes >= rate.bytes
    }
}
