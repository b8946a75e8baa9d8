extension Duration {
    /// The duration as logs, errors and reports show it: `250 ms`, `1.5 s`, `1 min 30 s`, `2 h`.
    ///
    /// It has milliseconds below one second, tenths of a second below one minute, seconds below one hour and minutes
    /// above, and is rounded to them.
    public var inWords: String {
        let seconds = abs(self / .seconds(1))
        let sign = self < .zero ? "-" : ""
        switch seconds {
        case ..<0.9995: return "\(sign)\(Int((seconds * 1_000).rounded())) ms"
        case ..<59.95:
            let tenths = Int((seconds * 10).rounded())
            return "\(sign)\(tenths / 10)" + (tenths % 10 == 0 ? " s" : ".\(tenths % 10) s")
        case ..<3_599.5: return sign + sixties(Int(seconds.rounded()), "min", "s")
        default: return sign + sixties(Int((seconds / 60).rounded()), "h", "min")
        }
    }
}

/// A count of small units, of which 60 are a large one.
private func sixties(_ count: Int, _ large: String, _ small: String) -> String {
    "\(count / 60) \(large)" + (count % 60 == 0 ? "" : " \(count % 60) \(small)")
}
