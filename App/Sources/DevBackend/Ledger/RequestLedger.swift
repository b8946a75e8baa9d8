import NIOConcurrencyHelpers

/// Counts and journals every request.
///
/// A request is recorded when its head has arrived and completed before its response is sent, so that a client that has
/// the response finds it counted.
final class RequestLedger: Sendable {
    private struct State {
        var statistics = ServerStatistics()
        var entries: [JournalEntry] = []
        var lastSequence = 0
    }

    private static let capacity = 20_000

    private let state = NIOLockedValueBox(State())

    var statistics: ServerStatistics { state.withLockedValue(\.statistics) }
    var journal: [JournalEntry] { state.withLockedValue { $0.entries.suffix(Self.capacity) } }

    func arrived(method: String, path: String, requestID: String, credentialFields: [String], isRefresh: Bool) -> Int {
        state.withLockedValue { state in
            state.lastSequence += 1
            state.statistics.requests += 1
            if isRefresh { state.statistics.refreshes.received += 1 }
            state.entries.append(
                JournalEntry(
                    sequence: state.lastSequence, method: method, path: path, requestID: requestID,
                    credentialFields: credentialFields))
            // Trimmed in bulk, so that the average cost of an entry is constant.
            if state.entries.count > 2 * Self.capacity { state.entries.removeFirst(Self.capacity) }
            return state.lastSequence
        }
    }

    /// Completes a request; a nil status is a connection closed without a response.
    func completed(_ sequence: Int, method: String, route: String, status: Int?) {
        state.withLockedValue { $0.statistics.countResponse(method: method, route: route, status: status) }
        change(sequence) { $0.status = status }
    }

    func setGeneration(_ generation: Int, of sequence: Int) {
        change(sequence) { $0.tokenGeneration = generation }
    }

    private func change(_ sequence: Int, _ body: (inout JournalEntry) -> Void) {
        state.withLockedValue { state in
            guard let first = state.entries.first?.sequence, sequence >= first else { return }
            body(&state.entries[sequence - first])
        }
    }

    func count(_ counter: any WritableKeyPath<ServerStatistics, Int> & Sendable) {
        state.withLockedValue { $0.statistics[keyPath: counter] += 1 }
    }
}

/// One request as the server received it. Holds no token, no body, no query and no value of a header field.
public struct JournalEntry: Sendable, Hashable {
    /// The position in the order of arrival, from 1.
    let sequence: Int
    /// The method, in capitals.
    public let method: String
    /// The path as it was sent, without its query.
    public let path: String
    /// The request's identifier, as in `meta.requestId`.
    public let requestID: String
    /// The credential-bearing header fields that were present, by their lower-case names.
    public let credentialFields: [String]
    /// The status of the response; nil while the request is in progress, or when the connection was closed instead.
    public internal(set) var status: Int?
    /// The rotation number of the access or refresh token in the request; nil unless this server issued it.
    public internal(set) var tokenGeneration: Int?
}
