import HTTPTypes
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

        /// The index of an entry that is still in the journal.
        func index(of sequence: Int) -> Int? {
            guard let first = entries.first?.sequence, sequence >= first else { return nil }
            return sequence - first
        }
    }

    private let state = NIOLockedValueBox(State())
    /// The most characters of a path that are recorded: a long path must not make the journal large.
    private static let maximumPathLength = 1024

    private let capacity: Int
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant

    init(capacity: Int) {
        self.capacity = max(0, capacity)
        start = clock.now
    }

    var statistics: ServerStatistics { state.withLockedValue(\.statistics) }

    var journal: [JournalEntry] { state.withLockedValue { Array($0.entries.suffix(capacity)) } }

    /// Records a request and returns its sequence number.
    func arrived(method: String, path: String, requestID: String, credentialFields: [String], isRefresh: Bool) -> Int {
        let offset = offset
        return state.withLockedValue { state in
            state.lastSequence += 1
            state.statistics.requests += 1
            state.statistics.inProgress += 1
            state.statistics.maxConcurrent = max(state.statistics.maxConcurrent, state.statistics.inProgress)
            if isRefresh { state.statistics.refreshes.received += 1 }
            state.entries.append(
                JournalEntry(
                    sequence: state.lastSequence, method: method, path: String(path.prefix(Self.maximumPathLength)),
                    requestID: requestID, arrivedAt: offset, credentialFields: credentialFields))
            // Trimmed in bulk, so that the average cost of an entry is constant.
            if state.entries.count > 2 * capacity { state.entries.removeFirst(state.entries.count - capacity) }
            return state.lastSequence
        }
    }

    /// Completes a request; a nil status is a connection closed without a response.
    func completed(_ sequence: Int, method: String, route: String, status: Int?) {
        let offset = offset
        state.withLockedValue { state in
            state.statistics.inProgress -= 1
            state.statistics.countResponse(method: method, route: route, status: status)
            guard let index = state.index(of: sequence) else { return }
            state.entries[index].status = status
            state.entries[index].completedAt = offset
        }
    }

    func raise(_ maximum: any WritableKeyPath<ServerStatistics, Int> & Sendable, to value: Int) {
        state.withLockedValue { state in
            state.statistics[keyPath: maximum] = max(state.statistics[keyPath: maximum], value)
        }
    }

    func setGeneration(_ generation: Int, of sequence: Int) {
        state.withLockedValue { state in
            guard let index = state.index(of: sequence) else { return }
            state.entries[index].tokenGeneration = generation
        }
    }

    func count(_ counter: any WritableKeyPath<ServerStatistics, Int> & Sendable) {
        state.withLockedValue { $0.statistics[keyPath: counter] += 1 }
    }

    private var offset: Double { (clock.now - start).milliseconds }
}

/// One request as the server received it. Holds no token, no body, no query and no value of a header field.
public struct JournalEntry: Sendable, Hashable, Codable {
    /// The position in the order of arrival, from 1.
    public let sequence: Int
    /// The method, in capitals.
    public let method: String
    /// The path as it was sent, without its query, cut after 1,024 characters.
    public let path: String
    /// The request's identifier, as in `meta.requestId`.
    public let requestID: String
    /// Milliseconds from the server's start to the request's arrival, on a monotonic clock.
    public let arrivedAt: Double
    /// The credential-bearing header fields that were present, by their lower-case names.
    public let credentialFields: [String]
    /// The status of the response; nil while the request is in progress, or when the connection was closed instead.
    public internal(set) var status: Int?
    /// Milliseconds from the server's start to the time the response was ready to be sent; nil while in progress.
    public internal(set) var completedAt: Double?
    /// The rotation number of the access or refresh token in the request; nil unless this server issued it.
    public internal(set) var tokenGeneration: Int?

    /// Whether any credential-bearing header field was present.
    public var carriedCredentials: Bool { !credentialFields.isEmpty }
}

/// The names of header fields that commonly carry credentials, and those that the dialect adds.
struct CredentialFields: Sendable {
    private let names: Set<String>

    init(dialect: DevBackend.Dialect) {
        var names: Set<String> = [
            "authorization", "proxy-authorization", "cookie", "accesstoken", "refreshtoken", "access-token",
            "refresh-token", "x-access-token", "x-refresh-token", "x-auth-token", "x-api-key",
        ]
        names.formUnion([dialect.accessTokenField, dialect.refreshTokenField].compactMap { $0?.lowercased() })
        self.names = names
    }

    func present(in fields: HTTPFields) -> [String] {
        Set(fields.map(\.name.canonicalName)).intersection(names).sorted()
    }
}
