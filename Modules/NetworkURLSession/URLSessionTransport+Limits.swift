extension URLSessionTransport {
    /// The limits of a transport.
    public struct Limits: Sendable, Hashable {
        /// The most warm connections to one host at a time, and so the most requests at a time to an `http` origin. At
        /// least one.
        public var connectionsPerHost = 6

        /// The most streams from one host at a time. They use other connections than calls and refreshes. At least one.
        public var streamsPerHost = 32

        /// How many bytes of a response may wait to be read: 64 MiB.
        public var unreadBytes = 64 * 1_024 * 1_024

        /// How long a process that has slept runs before a time limit counts that has passed meanwhile.
        public var wakeGrace: Duration = .seconds(5)

        /// Creates the standard limits.
        public init() {}
    }
}
