/// Measures the durations of the steps.
struct Stopwatch {
    private(set) var laps: [(name: String, duration: Duration)] = []
    private let start = ContinuousClock.now
    private var lapStart = ContinuousClock.now

    /// Ends a lap and starts the next one.
    mutating func lap(_ name: String) {
        let now = ContinuousClock.now
        laps.append((name, now - lapStart))
        lapStart = now
    }

    /// The time since the start.
    var total: Duration { ContinuousClock.now - start }
}
