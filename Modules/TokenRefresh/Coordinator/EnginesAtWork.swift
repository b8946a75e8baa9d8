import AuthInterface
import ConcurrencyPrimitives

/// The engines of this process that have work under way, by their stores.
///
/// New tokens that are not stored yet are in the memory of one engine only, and the refresh token before them is spent.
/// So an engine that the application has released stays here until it is idle, and a later engine for the same store
/// finds it here: what the store holds until then must not be used, and what it is given must not be replaced.
enum EnginesAtWork {
    private static let engines = Locked<[StorePlace: [TokenRefreshCoordinator]]>([:])

    /// From this number of stores on, no engine is kept for a pause alone.
    private static let maximumPaused = 10_000
    static var isFull: Bool { engines.withLock { $0.count > maximumPaused } }

    static func insert(_ one: TokenRefreshCoordinator) { engines.withLock { $0[one.place, default: []].append(one) } }

    static func remove(_ engine: TokenRefreshCoordinator) {
        engines.withLock { engines in
            engines[engine.place]?.removeAll { $0 === engine }
            if engines[engine.place]?.isEmpty == true { engines[engine.place] = nil }
        }
    }

    static func count(at place: StorePlace) -> Int { engines.withLock { $0[place]?.count ?? 0 } }

    /// Waits until engines that began work before another one have stored all tokens. Returns whether they have.
    static func haveStored(at place: StorePlace, before engine: ObjectIdentifier, within limit: Duration) async -> Bool
    {
        let earlier = engines.withLock { $0[place] ?? [] }.prefix { ObjectIdentifier($0) != engine }
        for other in earlier where !other.hasStored {
            guard await other.isIdle(within: limit) else { return false }
        }
        return true
    }
}

/// What tells a store apart from the others of the process: it is the same object, or an equal value.
struct StorePlace: Hashable, Sendable {
    private let key: any Hashable & Sendable

    /// A store that is a value, and that cannot be compared, is told apart by its engine.
    init(of store: any TokenStore, in engine: TokenRefreshCoordinator) {
        if let store = store as? any TokenStore & Hashable {
            key = store
        } else {
            key = ObjectIdentifier(type(of: store) is AnyClass ? store as AnyObject : engine)
        }
    }

    static func == (one: Self, other: Self) -> Bool { AnyHashable(one.key) == AnyHashable(other.key) }

    func hash(into hasher: inout Hasher) { hasher.combine(AnyHashable(key)) }
}
