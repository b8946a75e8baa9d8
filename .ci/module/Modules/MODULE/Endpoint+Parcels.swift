import NetworkCore

// The parcels. Every call needs authentication, which is the default of an endpoint. They are internal, so that two
// modules may name theirs alike: others see the service.

extension Endpoint where Response == [Parcel] {
    /// The parcels of the signed-in user, newest first.
    ///
    /// - Parameter limit: The maximum number, from 1 to 100.
    /// - Returns: The endpoint.
    static func parcels(limit: Int) -> Self { .get("parcels", query: ["limit": limit]) }
}

extension Endpoint where Response == Parcel {
    /// One parcel.
    ///
    /// - Parameter id: Its identifier.
    /// - Returns: The endpoint.
    static func parcel(_ id: Parcel.ID) -> Self { .get("parcels/\(id)") }

    /// Creates one parcel. The call has an idempotency key: sent again, it does not create a second one.
    ///
    /// - Parameter draft: The content.
    /// - Returns: The endpoint.
    static func create(_ draft: ParcelDraft) -> Self { .post("parcels", json: draft).idempotent() }
}
