/// A stretch of time cut into the columns of a picture.
struct TimeScale: Hashable {
    /// The time of one column.
    struct Interval: Hashable {
        let start: Duration
        let end: Duration
        var middle: Duration { start + (end - start) / 2 }
    }

    let start: Duration
    let end: Duration
    let columns: Int

    var length: Duration { end - start }

    func interval(_ column: Int) -> Interval {
        Interval(
            start: start + length * column / columns,
            end: start + length * (column + 1) / columns
        )
    }
}

extension Duration {
    /// The duration as people read it: `8.4 ms`, `312 ms`, `12.3 s`.
    var inMilliseconds: String {
        let milliseconds = self / .milliseconds(1)
        switch milliseconds {
        case ..<9.95: return "\((milliseconds * 10).rounded() / 10) ms"
        case ..<9_999.5: return "\(Int(milliseconds.rounded())) ms"
        default: return "\((milliseconds / 100).rounded() / 10) s"
        }
    }
}
