/// A time interval, divided into the columns of a picture.
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
