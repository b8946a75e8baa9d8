/// A caller that waits, its request, and since when it waits.
struct Waiter: Hashable, Sendable {
    let id: WaiterID
    /// `settle` also for the caller of a sign-in or a sign-out: it waits for the end of the work.
    let request: CallerRequest
    let since: Duration
}

/// The callers that wait for a response, each at one station.
///
/// A caller enters once. It leaves when it is taken out, with its response or its cancellation, or to wait at another
/// station: so no caller gets two responses. Their numbers rise, and they are served in that order.
struct WaitingRoom: Hashable, Sendable {
    /// What a caller waits for.
    enum Station: Hashable, Sendable {
        /// The first read.
        case load
        /// The first read, which shows the session that a sign-out ends.
        case earlySignOut
        /// The next published state.
        case publication
        /// The end of all work under way.
        case settle
        /// The check of the store under way.
        case check
        /// A check that starts later.
        case nextCheck
        /// The write of a version, or of a later one. A sign-in holds also if it fails.
        case write(version: Int, isSignIn: Bool)
        /// The refresh under way.
        case attempt
        /// The end of a pause, or of a sign-in that is being stored.
        case pause
    }

    /// No station is here at which nobody waits.
    private var callers: [Station: [WaiterID: Waiter]] = [:]

    func isEmpty(_ station: Station) -> Bool { callers[station] == nil }

    /// Since when the one waits that has waited at a station for the longest time.
    ///
    /// - Complexity: O(n), with the callers at the station.
    func earliest(at station: Station) -> Duration? { callers[station]?.values.lazy.map(\.since).min() }

    /// Lets a caller wait that is not in the room.
    mutating func add(_ waiter: Waiter, to station: Station) {
        precondition(callers.values.allSatisfy { $0[waiter.id] == nil }, "\(waiter.id) waits already")
        callers[station, default: [:]][waiter.id] = waiter
    }

    /// Takes out one caller, wherever it waits.
    ///
    /// - Returns: Whether it was here. One that was not has its response.
    mutating func remove(_ id: WaiterID) -> Bool {
        guard let station = callers.first(where: { $0.value[id] != nil })?.key else { return false }
        callers[station]?[id] = nil
        if callers[station]?.isEmpty == true { callers[station] = nil }
        return true
    }

    /// Takes out the callers at some stations, in the order in which they came.
    mutating func take(_ stations: Station...) -> [Waiter] {
        let taken = stations.flatMap { callers.removeValue(forKey: $0)?.map(\.value) ?? [] }
        return taken.sorted { $0.id.number < $1.id.number }
    }

    /// Takes out the callers that have waited at a station since an instant or longer, in the order in which they came.
    mutating func take(_ station: Station, since uptime: Duration) -> [Waiter] {
        let due = (callers[station] ?? [:]).values.filter { $0.since <= uptime && remove($0.id) }
        return due.sorted { $0.id.number < $1.id.number }
    }

    /// Takes out the callers that wait for the write of a version or of an older one, in the order in which they came.
    mutating func takeWriters(upTo version: Int) -> [(id: WaiterID, isSignIn: Bool)] {
        var due: [(id: WaiterID, isSignIn: Bool)] = []
        for case .write(let wanted, let isSignIn) in callers.keys where wanted <= version {
            due += take(.write(version: wanted, isSignIn: isSignIn)).map { ($0.id, isSignIn) }
        }
        return due.sorted { $0.id.number < $1.id.number }
    }

    /// Lets the callers at a station wait at another one.
    mutating func move(from station: Station, to other: Station) {
        guard let moved = callers.removeValue(forKey: station) else { return }
        callers[other, default: [:]].merge(moved) { caller, _ in caller }
    }
}
