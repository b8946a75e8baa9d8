/// Reads and creates parcels.
///
/// Screens hold it. ``NetworkParcelService`` is for the application.
/// ``MemoryParcelService`` is for previews and tests.
public protocol ParcelService: Sendable {
    /// Fetches the parcels of the signed-in user, newest first.
    ///
    /// - Parameter limit: The maximum number, from 1 to 100.
    /// - Returns: The parcels.
    /// - Throws: `NetworkError`, or `CancellationError`.
    func parcels(limit: Int) async throws -> [Parcel]

    /// Fetches one parcel.
    ///
    /// - Parameter id: Its identifier.
    /// - Returns: The parcel.
    /// - Throws: `NetworkError`, with status 404 if there is no such parcel; `CancellationError`.
    func parcel(_ id: Parcel.ID) async throws -> Parcel

    /// Creates one parcel. A repeated call does not create a second one.
    ///
    /// - Parameter draft: The content.
    /// - Returns: The parcel as the server has stored it.
    /// - Throws: `NetworkError`, or `CancellationError`. The parcel may have been created.
    @discardableResult
    func create(_ draft: ParcelDraft) async throws -> Parcel
}
