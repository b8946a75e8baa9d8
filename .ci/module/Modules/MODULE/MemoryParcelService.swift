public import NetworkCore

/// Keeps parcels in memory, for previews and for the tests of what holds a service.
public actor MemoryParcelService: ParcelService {
    private var stored: [Parcel]
    private let failure: NetworkError?

    /// Creates the service.
    ///
    /// - Parameters:
    ///   - content: What is stored, newest first.
    ///   - failure: The error of every call. `nil`: calls succeed.
    public init(_ content: [Parcel] = [], failure: NetworkError? = nil) {
        stored = content
        self.failure = failure
    }

    /// The first of what is stored.
    public func parcels(limit: Int) async throws -> [Parcel] {
        try check()
        return Array(stored.prefix(limit))
    }

    /// What is stored under the identifier, or an error with status 404.
    public func parcel(_ id: Parcel.ID) async throws -> Parcel {
        try check()
        guard let parcel = stored.first(where: { $0.id == id }) else {
            throw NetworkError(.unacceptableStatus, response: HTTPResponseHead(status: 404))
        }
        return parcel
    }

    /// Stores the content under an identifier that is not used yet.
    @discardableResult
    public func create(_ draft: ParcelDraft) async throws -> Parcel {
        try check()
        let used = Set(stored.map(\.id))
        let id = (1...).lazy.map(String.init).first { !used.contains($0) } ?? ""
        let parcel = Parcel(id: id, title: draft.title)
        stored.insert(parcel, at: 0)
        return parcel
    }

    private func check() throws {
        try Task.checkCancellation()
        if let failure { throw failure }
    }
}
