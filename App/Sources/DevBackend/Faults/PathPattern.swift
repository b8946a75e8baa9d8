/// A path with wildcards: `*` stands for one segment, a final `**` for any number of them, none included.
struct PathPattern: Sendable, Hashable {
    private let segments: [Substring]
    private let matchesRemainder: Bool

    init(_ pattern: String) {
        var segments = pattern.split(separator: "/")
        matchesRemainder = segments.last == "**"
        if matchesRemainder { segments.removeLast() }
        self.segments = segments
    }

    func matches(_ path: String) -> Bool {
        let candidates = path.split(separator: "/")
        guard matchesRemainder ? candidates.count >= segments.count : candidates.count == segments.count else {
            return false
        }
        return zip(segments, candidates).allSatisfy { segment, candidate in segment == "*" || segment == candidate }
    }
}
