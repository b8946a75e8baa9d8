/// The source pixels that a target pixel covers along one axis, and their weights.
struct Coverage {
    /// The first and the last covered pixel. They are the same where the target is not smaller.
    let first: Int
    let last: Int
    /// The weights of the first, of the last, and of each pixel between. All weights add up to ``whole``.
    let firstWeight: UInt64
    let lastWeight: UInt64
    let innerWeight: UInt64

    /// A weight of 1.
    static let whole: UInt64 = 1 << 24

    /// Target pixel `index` of `target` pixels over an axis of `source` pixels.
    ///
    /// It counts in units of 1/target of a source pixel: all edges are whole numbers, so no error accumulates.
    init(of index: Int, source: Int, target: Int) {
        let (unit, span) = (UInt64(target), UInt64(source))
        let start = UInt64(index) * span
        let end = start + span
        first = Int(start / unit)
        last = Int((end - 1) / unit)
        innerWeight = unit * Self.whole / span
        lastWeight = last == first ? 0 : (end - UInt64(last) * unit) * Self.whole / span
        // What rounding leaves is the first one's: a white area stays white.
        firstWeight = Self.whole - lastWeight - innerWeight * UInt64(max(last - first - 1, 0))
    }
}
