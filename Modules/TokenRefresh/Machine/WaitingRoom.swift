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
struct WaitingRoom: Sendable {
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

    fileprivate struct Place: Hashable, Sendable {
        let request: CallerRequest
        let since: Duration
        var station: Station
    }

    fileprivate struct Count: Sendable {
        let station: Station
        var callers: Int
    }

    private var places = CallerList<Place>()
    /// The stations at which callers wait: a few at most.
    private var counts: [Count] = []

    func isEmpty(_ station: Station) -> Bool { !counts.contains { $0.station == station } }

    /// Since when the one waits that has waited at a station for the longest time.
    ///
    /// - Complexity: O(n), with all callers in the room.
    func earliest(at station: Station) -> Duration? {
        isEmpty(station) ? nil : places.present.lazy.filter { $0.value.station == station }.map(\.value.since).min()
    }

    /// Lets a caller wait that is not in the room.
    mutating func add(_ waiter: Waiter, to station: Station) {
        let place = Place(request: waiter.request, since: waiter.since, station: station)
        let isNew = places.add(place, for: waiter.id)
        precondition(isNew, "\(waiter.id) waits already")
        counts.add(1, at: station)
    }

    /// Takes out one caller, wherever it waits.
    ///
    /// - Returns: Whether it was here. One that was not has its response.
    mutating func remove(_ id: WaiterID) -> Bool {
        guard let place = places.remove(id) else { return false }
        counts.add(-1, at: place.station)
        return true
    }

    /// Takes out the callers at some stations, in the order in which they came.
    ///
    /// - Complexity: O(1) where none of them waits; otherwise O(n), with all callers in the room.
    mutating func take(_ stations: Station...) -> [Waiter] {
        take(at: { stations.contains($0) }, Waiter.init)
    }

    /// Takes out the callers that have waited at a station since an instant or longer, in the order in which they came.
    mutating func take(_ station: Station, since uptime: Duration) -> [Waiter] {
        take(at: { $0 == station }, where: { $0.since <= uptime }, Waiter.init)
    }

    /// Takes out the callers that wait for the write of a version or of an older one, in the order in which they came.
    mutating func takeWriters(upTo version: Int) -> [(id: WaiterID, isSignIn: Bool)] {
        func isDue(_ station: Station) -> Bool {
            if case .write(let wanted, _) = station { wanted <= version } else { false }
        }
        return take(at: isDue) { id, place in
            if case .write(_, isSignIn: true) = place.station { (id, true) } else { (id, false) }
        }
    }

    /// Lets the callers at a station wait at another one.
    mutating func move(from station: Station, to other: Station) {
        guard let count = counts.first(where: { $0.station == station })?.callers else { return }
        places.change { if $0.station == station { $0.station = other } }
        counts.add(-count, at: station)
        counts.add(count, at: other)
    }

    private mutating func take<Taken>(
        at isMeant: (Station) -> Bool, where isDue: (Place) -> Bool = { _ in true }, _ make: (WaiterID, Place) -> Taken
    ) -> [Taken] {
        let most = counts.reduce(0) { isMeant($1.station) ? $0 + $1.callers : $0 }
        guard most > 0 else { return [] }
        var (taken, counts) = ([Taken](), counts)
        taken.reserveCapacity(most)
        places.take(where: { isMeant($0.station) && isDue($0) }) { id, place in
            taken.append(make(id, place))
            counts.add(-1, at: place.station)
        }
        self.counts = counts
        return taken
    }
}

extension WaitingRoom: Hashable {
    static func == (one: WaitingRoom, other: WaitingRoom) -> Bool { one.places == other.places }

    func hash(into hasher: inout Hasher) { hasher.combine(places) }
}

extension Waiter {
    fileprivate init(_ id: WaiterID, _ place: WaitingRoom.Place) {
        self.init(id: id, request: place.request, since: place.since)
    }
}

extension [WaitingRoom.Count] {
    fileprivate mutating func add(_ callers: Int, at station: WaitingRoom.Station) {
        guard let index = firstIndex(where: { $0.station == station }) else {
            return append(.init(station: station, callers: callers))
        }
        self[index].callers += callers
        if self[index].callers == 0 { remove(at: index) }
    }
}
