/// A value that is copied when it is changed, and not when it is handed on. A session has some thousand bytes: without
/// this a refresh takes four times as long for each of 1,000 requests that wait for it.
struct Placed<Value: Hashable & Sendable>: Hashable, @unchecked Sendable {
    private final class Place {
        var value: Value

        init(_ value: Value) { self.value = value }
    }

    private var place: Place

    init(_ value: Value) { place = Place(value) }

    var value: Value {
        get { place.value }
        _modify {
            if !isKnownUniquelyReferenced(&place) { place = Place(place.value) }
            yield &place.value
        }
    }

    static func == (first: Self, second: Self) -> Bool {
        first.place === second.place || first.place.value == second.place.value
    }

    func hash(into hasher: inout Hasher) { hasher.combine(place.value) }
}
