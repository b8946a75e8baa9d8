public import Foundation

extension DevBackend {
    /// The configuration of a server. The defaults suit a test.
    public struct Configuration: Sendable {
        /// The TCP port to bind; 0 is any free port. The server speaks cleartext HTTP, so it is on loopback only.
        public var port = 0

        /// Where users, articles, files and token families are stored.
        public var database = DatabaseLocation.memory

        /// The lifetime of an access token, from its issue, rounded up to whole seconds.
        public var accessTokenLifetime = Duration.seconds(15 * 60)

        /// The lifetime of a refresh token, from its issue. Each rotation issues a new one.
        public var refreshTokenLifetime = Duration.seconds(30 * 24 * 60 * 60)

        /// How long ago a user may have signed in for the requests at some paths, with the wildcards of a fault's rule.
        /// Requests of an older session get 401 `STEP_UP_REQUIRED` with the challenge of RFC 9470; a refresh does not
        /// change that, and another sign-in does.
        public var recentSignIns: [String: Duration] = [:]

        /// The grace window: the time after a rotation in which the previous refresh token still returns its successor.
        ///
        /// Zero, the default, treats any second use as theft and revokes the family (RFC 9700 §4.14.2).
        public var rotationGrace = Duration.zero

        /// Where tokens are, and how an expired one is refused.
        public var dialect = Dialect()

        /// The client that may call `/oauth2/token` and `/oauth2/revoke`.
        public var oauth2Client = OAuth2Client(id: "latchkey-dev", secret: "development-only")

        /// The shortest pause between two polls with a device code, in whole seconds.
        public var devicePollInterval = Duration.seconds(5)

        /// The limits of a request, and of an event stream.
        public var limits = Limits()

        /// The faults, from the first request on.
        public var faults = FaultPlan.none

        /// Whether `/dev/faults`, `/dev/expire` and `/dev/stats` exist. They require no authentication.
        public var allowsDevEndpoints = false

        /// The wall clock, for tokens, timestamps and the `Date` field.
        public var now: @Sendable () -> Date = { Date() }

        /// Creates the default configuration.
        public init() {}
    }

    /// Where the data is stored.
    public enum DatabaseLocation: Sendable, Hashable {
        /// A private database that is discarded with the server.
        case memory
        /// A SQLite file in WAL mode, created when absent. Sessions survive a restart on the same file.
        case file(String)
    }

    /// The limits of a request, and of an event stream. A character is a Unicode code point, as in `maxLength` of JSON
    /// Schema: at most four bytes of UTF-8. (A `Character` of Swift has no largest size.)
    public struct Limits: Sendable, Hashable {
        /// Bytes in a profile image: 5 MiB.
        public var imageBytes = 5 * 1024 * 1024
        /// Bytes in a body that is not an upload, and in an upload beside its image: 256 KiB.
        public var bodyBytes = 256 * 1024
        /// Articles in one page.
        public var pageItems = 100
        /// The pause after which an event stream without events sends a comment.
        public var eventHeartbeat = Duration.seconds(15)
        /// The pause that an event stream asks its client to make before it reconnects.
        public var eventRetry = Duration.seconds(1)

        /// Articles in a page without a `limit` in the request.
        let defaultPageItems = 20
        let nameCharacters = 50
        let titleCharacters = 200
        let articleCharacters = 20_000
        let idempotencyKeyCharacters = 255
    }
}

extension Duration {
    var seconds: Double { self / .seconds(1) }

    var wholeMilliseconds: Int { Int(self / .milliseconds(1)) }

    /// Whole seconds, rounded up: a protocol field that counts seconds must never promise less than was meant.
    var secondsRoundedUp: Int { Int(seconds.rounded(.up)) }
}
