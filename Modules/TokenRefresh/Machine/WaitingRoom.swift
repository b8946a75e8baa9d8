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
/// station: so no caller gets two responses. Equality ignores the order in which they came.
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

    private struct Place: Hashable {
        let waiter: Waiter
        let station: Station
    }

    private var places: [WaiterID: Place] = [:]
    private var counts: [Station: Int] = [:]

    func isEmpty(_ station: Station) -> Bool { counts[station] == nil }

    /// Since when the one waits that has waited at a station for the longest time.
    ///
    /// - Complexity: O(n), with all callers in the room.
    func earliest(at station: Station) -> Duration? {
        isEmpty(station) ? nil : places.values.lazy.filter { $0.station == station }.map(\.waiter.since).min()
    }

    /// Lets a caller wait that is not in the room.
    mutating func add(_ waiter: Waiter, to station: Station) {
        let earlier = places.updateValue(Place(waiter: waiter, station: station), forKey: waiter.id)
        precondition(earlier == nil, "\(waiter.id) waits already")
        counts[station, default: 0] += 1
    }

    /// Takes out one caller, wherever it waits.
    ///
    /// - Returns: Whether it was here. One that was not has its response.
    mutating func remove(_ id: WaiterID) -> Bool {
        guard let place = places.removeValue(forKey: id) else { return false }
        let left = counts[place.station, default: 0] - 1
        counts[place.station] = left > 0 ? left : nil
        return true
    }

    /// Takes out the callers at some stations, in the order in which they came.
    ///
    /// - Complexity: O(1) where none of them waits; otherwise O(n) and a sort, with all callers in the room.
    mutating func take(_ stations: Station...) -> [Waiter] {
        guard !stations.allSatisfy(isEmpty) else { return [] }
        return take(where: { stations.contains($0.station) }).map(\.waiter)
    }

    /// Takes out the callers that have waited at a station since an instant or longer, in the order in which they came.
    mutating func take(_ station: Station, since uptime: Duration) -> [Waiter] {
        take(where: { $0.station == station && $0.waiter.since <= uptime }).map(\.waiter)
    }

    /// Takes out the callers that wait for the write of a version or of an older one, in the order in which they came.
    mutating func takeWriters(upTo version: Int) -> [(id: WaiterID, isSignIn: Bool)] {
        func isDue(_ station: Station) -> Bool {
            if case .write(let wanted, _) = station { wanted <= version } else { false }
        }
        guard counts.keys.contains(where: isDue) else { return [] }
        return take(where: { isDue($0.station) }).map { place in
            if case .write(_, isSignIn: true) = place.station {
                (place.waiter.id, true)
            } else {
                (place.waiter.id, false)
            }
        }
    }

    /// Lets the callers at a station wait at another one.
    mutating func move(from station: Station, to other: Station) {
        for waiter in take(station) { add(waiter, to: other) }
    }

    private mutating func take(where isDue: (Place) -> Bool) -> [Place] {
        let due = places.values.filter(isDue).sorted { $0.waiter.id.number < $1.waiter.id.number }
        // A crowd that has gone leaves no large dictionary behind.
        if due.count == places.count { self = WaitingRoom() } else { for place in due { _ = remove(place.waiter.id) } }
        return due
    }
}
