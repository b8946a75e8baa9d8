/// A random text of 256 bits that is compared in constant time.
struct Secret: Sendable, CustomStringConvertible, CustomReflectable {
    /// The text: 64 hexadecimal digits.
    let text: String

    init() {
        text = (0..<64).map { _ in String(Int.random(in: 0..<16), radix: 16) }.joined()
    }

    /// Whether a text is this one. The time depends on the length of the other text only.
    func matches(_ other: some StringProtocol) -> Bool {
        let own = Array(text.utf8)
        let other = Array(other.utf8)
        var difference = own.count ^ other.count
        for index in other.indices { difference |= Int(own[index % own.count] ^ other[index]) }
        return difference == 0
    }

    var description: String { "redacted" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
