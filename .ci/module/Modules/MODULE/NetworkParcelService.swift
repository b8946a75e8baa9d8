public import NetworkCore

/// The parcels of the server.
public struct NetworkParcelService: ParcelService {
    private let network: any NetworkService

    /// Creates the service.
    ///
    /// - Parameter network: An authenticated client, or a test double.
    public init(network: any NetworkService) {
        self.network = network
    }

    /// Sends one request.
    public func parcels(limit: Int) async throws -> [Parcel] {
        try await network.send(.parcels(limit: limit))
    }

    /// Sends one request.
    public func parcel(_ id: Parcel.ID) async throws -> Parcel {
        try await network.send(.parcel(id))
    }

    /// Sends one request, with an idempotency key.
    @discardableResult
    public func create(_ draft: ParcelDraft) async throws -> Parcel {
        try await network.send(.create(draft))
    }
}
