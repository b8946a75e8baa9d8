/// The server's own counts since its start.
public struct ServerStatistics: Sendable, Hashable, Codable {
    /// How many requests of one route ended with one status.
    public struct ResponseCount: Sendable, Hashable, Codable {
        /// The method, in capitals.
        public var method: String
        /// The route's pattern below the base path, such as `/articles/{id}`; `*` for a path without a route.
        public var route: String
        /// The status of the responses; nil when the connection was closed without a response.
        public var status: Int?
        /// The number of requests.
        public var count: Int
    }

    /// The requests to `/auth/refresh` and `/oauth2/token`, by outcome.
    public struct Refreshes: Sendable, Hashable, Codable {
        /// Arrived, whether or not a fault kept the handler from running.
        public var received = 0
        /// Rotated: the presented token is spent and its successor committed.
        public var committed = 0
        /// Given the successor that an earlier request had committed, within the grace window.
        public var replayedByGrace = 0
        /// Given the result of an earlier request with the same idempotency key.
        public var replayedByKey = 0
        /// Refused because a spent token was presented; its family is revoked.
        public var reuseDetected = 0
        /// Refused for any other reason: unknown, expired, revoked, malformed, or spent long ago with the same key.
        public var rejected = 0

        /// Creates counts to compare with. Each parameter is the property of its name.
        public init(
            received: Int = 0, committed: Int = 0, replayedByGrace: Int = 0, replayedByKey: Int = 0,
            reuseDetected: Int = 0, rejected: Int = 0
        ) {
            self.received = received
            self.committed = committed
            self.replayedByGrace = replayedByGrace
            self.replayedByKey = replayedByKey
            self.reuseDetected = reuseDetected
            self.rejected = rejected
        }
    }

    /// Requests that arrived, those to unknown paths included.
    public var requests = 0
    /// Requests that ended, by route and status, in the order in which each combination first occurred.
    public var responses: [ResponseCount] = []
    /// Refreshes, by outcome.
    public var refreshes = Refreshes()
    /// Guests registered.
    public var registrations = 0
    /// Social logins granted.
    public var socialLogins = 0
    /// Families revoked by their user, at `/auth/logout` or `/oauth2/revoke`.
    public var logouts = 0

    /// The number of requests of a route, such as `/articles/{id}`, that have ended: with a status, or with any.
    public func count(_ method: String, _ route: String, status: Int? = nil) -> Int {
        responses
            .filter { $0.method == method && $0.route == route && (status == nil || $0.status == status) }
            .reduce(0) { $0 + $1.count }
    }

    mutating func countResponse(method: String, route: String, status: Int?) {
        let index = responses.firstIndex { $0.method == method && $0.route == route && $0.status == status }
        if let index {
            responses[index].count += 1
        } else {
            responses.append(ResponseCount(method: method, route: route, status: status, count: 1))
        }
    }
}
