/// The lanes of a transport, by what their exchanges have in common, such as the origin. It is a value: keep it in a
/// state behind a lock.
///
/// A lane that nothing else refers to has no exchange, and can be made again. Such lanes are dropped when there are
/// many: a program that sends requests to any number of servers does not keep them all.
///
/// - Complexity: O(1), amortised.
package struct LaneTable<Key: Hashable & Sendable, Lane: AnyObject & Sendable>: Sendable {
    private var lanes: [Key: Lane] = [:]
    private var limit = keptLanes

    /// How many lanes may be there before the first look for those that can be dropped.
    package static var keptLanes: Int { 256 }

    /// How many lanes there are.
    package var count: Int { lanes.count }

    /// Creates an empty table.
    package init() {}

    /// The lane of a key, which is made if there is none. Keep it, or what keeps it, while an exchange uses it.
    package mutating func lane(for key: Key, make: () -> Lane) -> Lane {
        if let lane = lanes[key] { return lane }
        if lanes.count >= limit {
            dropUnused()
            // As many may be added as are left, so that a look is rare also where all are used.
            limit = max(Self.keptLanes, 2 * lanes.count)
        }
        let lane = make()
        lanes[key] = lane
        return lane
    }

    private mutating func dropUnused() {
        var unused: [Key] = []
        var index = lanes.startIndex
        while index != lanes.endIndex {
            if isKnownUniquelyReferenced(&lanes.values[index]) { unused.append(lanes[index].key) }
            lanes.formIndex(after: &index)
        }
        for key in unused { lanes[key] = nil }
    }
}
