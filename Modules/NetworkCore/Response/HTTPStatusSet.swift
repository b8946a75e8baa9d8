/// A set of statuses, as an endpoint or a client accepts them.
///
/// ```swift
/// .delete("articles/\(id)").accepting(.success, .notFound)
/// ```
public struct HTTPStatusSet: Sendable, Hashable {
    private let ranges: [Range<Int>]

    private init(_ ranges: [Range<Int>]) { self.ranges = ranges }

    /// 200 to 299 (RFC 9110 §15.3).
    public static let success = HTTPStatusSet([200..<300])

    /// 404 (RFC 9110 §15.5.5).
    public static let notFound = status(404)

    /// One status.
    public static func status(_ status: Int) -> HTTPStatusSet { HTTPStatusSet([status..<status + 1]) }

    /// A range of statuses.
    public static func range(_ range: Range<Int>) -> HTTPStatusSet { HTTPStatusSet([range]) }

    /// The statuses of several sets.
    public static func any(of sets: [HTTPStatusSet]) -> HTTPStatusSet { HTTPStatusSet(sets.flatMap(\.ranges)) }

    /// Whether a status is in the set.
    public func contains(_ status: Int) -> Bool { ranges.contains { $0.contains(status) } }
}
