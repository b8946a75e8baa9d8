extension Duration {
    /// The duration for people: in milliseconds below ten seconds, in seconds above.
    package var inWords: String {
        let (seconds, attoseconds) = components
        guard (-10..<10).contains(seconds) else { return "\(seconds) s" }
        return "\(seconds * 1_000 + attoseconds / 1_000_000_000_000_000) ms"
    }
}
