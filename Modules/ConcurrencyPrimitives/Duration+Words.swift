extension Duration {
    /// The duration as logs, errors and reports show it: `250 ms`, `1.5 s`, `1 min 30 s`, `2 h`.
    ///
    /// It has milliseconds below one second, tenths of a second below one minute, seconds below one hour and minutes
    /// above. The rest is dropped.
    public var inWords: String {
        let sign = self < .zero ? "-" : ""
        let seconds = abs(self / .seconds(1))
        guard seconds < 3_600 else { return sign + sixties(Int(seconds / 60), "h", "min") }
        let milliseconds = Int(abs(self / .milliseconds(1)))
        let tenths = milliseconds / 100
        return switch tenths {
        case ..<10: "\(sign)\(milliseconds) ms"
        case ..<600: "\(sign)\(tenths / 10)" + (tenths % 10 == 0 ? " s" : ".\(tenths % 10) s")
        default: sign + sixties(tenths / 10, "min", "s")
        }
    }
}

/// A count of small units, of which 60 are a large one.
private func sixties(_ count: Int, _ large: String, _ small: String) -> String {
    "\(count / 60) \(large)" + (count % 60 == 0 ? "" : " \(count % 60) \(small)")
}
