/// What the server has counted since its start: the server's own word, independent of any client's.
public struct ServerStatistics: Sendable, Hashable, Codable {
    /// How many requests of one route ended in one way.
    public struct Answers: Sendable, Hashable, Codable {
        /// The method, in capitals.
        public var method: String
        /// The route's pattern below the base path, such as `/articles/{id}`; `*` for a path without a route.
        public var route: String
        /// The status answered, or nil when the connection was closed without an answer.
        public var status: Int?
        /// How many there were.
        public var count: Int
    }

    /// What became of the requests to `/auth/refresh` and `/oauth2/token`.
    public struct Refreshes: Sendable, Hashable, Codable {
        /// Arrived, whether or not a fault kept the handler from running.
        public var received = 0
        /// Rotated: the presented token is spent and its successor committed.
        public var committed = 0
        /// Answered with the successor that an earlier request had committed, within the grace window.
        public var replayedByGrace = 0
        /// Given the result of an earlier request with the same idempotency key.
        public var replayedByKey = 0
        /// Refused because a spent token was presented; its family is revoked.
        public var reuseDetected = 0
        /// Refused for any other reason: unknown, expired, revoked, malformed, or spent long ago with the same key.
        public var rejected = 0

        /// Refreshes to compare with; every count left out is zero.
        ///
        /// - Parameters:
        ///   - received: how many arrived.
        ///   - committed: how many rotated.
        ///   - replayedByGrace: how many earned an earlier rotation's successor.
        ///   - replayedByKey: how many earned an earlier result by their idempotency key.
        ///   - reuseDetected: how many presented a spent token.
        ///   - rejected: how many were refused for any other reason.
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
    public var answers: [Answers] = []
    /// Refreshes, by outcome.
    public var refreshes = Refreshes()
    /// Guests registered.
    public var registrations = 0
    /// Social logins granted.
    public var socialLogins = 0
    /// Families revoked by their owner, at `/auth/logout` or `/oauth2/revoke`.
    public var logouts = 0
    /// Requests in progress.
    public var inProgress = 0
    /// The most requests that were ever in progress at once.
    public var maxConcurrent = 0
    /// The most bytes that the bodies of requests in progress ever took at once.
    public var maxBufferedBodyBytes = 0

    /// Counts the requests of a route that have ended.
    ///
    /// - Parameters:
    ///   - method: the method, in capitals.
    ///   - route: the route's pattern, such as `/articles/{id}`.
    ///   - status: the status answered, or nil for every one.
    /// - Returns: how many there were.
    public func count(_ method: String, _ route: String, status: Int? = nil) -> Int {
        answers
            .filter { $0.method == method && $0.route == route && (status == nil || $0.status == status) }
            .reduce(0) { $0 + $1.count }
    }

    /// Requests that were refused for their access token: 401 or 419, and neither a sign-in nor a refresh.
    public var refusedRequests: Int {
        answers
            .filter { $0.status == 401 || $0.status == 419 }
            .filter { !$0.route.hasPrefix("/auth/") && !$0.route.hasPrefix("/oauth2/") }
            .reduce(0) { $0 + $1.count }
    }

    mutating func countResponse(method: String, route: String, status: Int?) {
        let index = answers.firstIndex { $0.method == method && $0.route == route && $0.status == status }
        if let index {
            answers[index].count += 1
        } else {
            answers.append(Answers(method: method, route: route, status: status, count: 1))
        }
    }
}
