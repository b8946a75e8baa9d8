extension Duration {
    /// Whole milliseconds, rounded down.
    var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000)
    }

    /// Milliseconds with their fraction.
    var milliseconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) * 1e3 + Double(attoseconds) / 1e15
    }

    /// Seconds with their fraction, for arithmetic with `Date`.
    var seconds: Double { milliseconds / 1e3 }

    /// Whole seconds, rounded up: a protocol field that counts seconds must never promise less than was meant.
    var secondsRoundedUp: Int { Int(seconds.rounded(.up)) }
}
