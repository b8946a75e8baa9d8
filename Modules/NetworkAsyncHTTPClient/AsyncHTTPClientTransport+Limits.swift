#if AsyncHTTPClient
import NetworkCore

extension AsyncHTTPClientTransport {
    /// The limits of a transport.
    public struct Limits: Sendable, Hashable {
        /// The most calls at a time to an `http` origin, each on a connection of its own.
        public var connectionsPerOrigin = 8

        /// The most streams at a time from an origin. Calls do not wait for them.
        public var streamsPerOrigin = 64

        /// The most calls at a time to an `https` origin, where one HTTP/2 connection carries many.
        public var multiplexedRequestsPerOrigin = 64

        /// How long a connection without a request is kept.
        public var connectionIdleTime: Duration = .seconds(60)

        /// The longest time to connect, TLS included.
        public var connectTimeout: Duration = .seconds(30)

        /// How many bytes of a response may wait to be read before the server has to wait. Some more may arrive by
        /// then. With less than a connection reads at once, each piece of a large body costs a switch between threads.
        public var unreadBytes = 256 * 1_024

        /// How many times its size a compressed body may have when it is decoded. A larger one fails with code
        /// `responseTooLarge`.
        public var decompressionRatio = 200

        /// How long a process that was stopped, or whose device slept, runs before a time limit counts that has passed
        /// meanwhile. What has arrived in its sockets is read in this time.
        public var wakeGrace: Duration = .seconds(5)

        /// Creates the standard limits.
        public init() {}

        /// The most requests at a time.
        func requests(to origin: Origin, use: ConnectionUse) -> Int {
            switch use {
            case .streams: max(1, streamsPerOrigin)
            case .refreshes: Self.refreshesPerOrigin
            default: max(1, origin.isCleartext ? connectionsPerOrigin : multiplexedRequestsPerOrigin)
            }
        }

        /// The most requests at a time to any origin.
        var mostRequests: Int {
            max(1, connectionsPerOrigin, multiplexedRequestsPerOrigin, streamsPerOrigin, Self.refreshesPerOrigin)
        }

        private static let refreshesPerOrigin = 64
    }
}
#endif
