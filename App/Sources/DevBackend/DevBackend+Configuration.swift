public import Foundation
public import Logging

extension DevBackend {
    /// The configuration of a server. The defaults suit a test.
    public struct Configuration: Sendable {
        /// The interface to bind. The server speaks cleartext HTTP, so the default is loopback.
        public var host = "127.0.0.1"

        /// The TCP port to bind; 0 is any free port.
        public var port = 0

        /// The origin in the URLs that the server sends, such as `https://api.example.com` behind a gateway; nil for
        /// the address that a connection was made to.
        public var publicOrigin: URL?

        /// Where users, articles, files and token families are stored.
        public var database = DatabaseLocation.memory

        /// The folder for images while they arrive; nil for that of the database, or the system's temporary folder. A
        /// file there has no name, and so it never outlives the server.
        public var uploadFolder: String?

        /// The lifetime of an access token, from its issue, rounded up to whole seconds.
        public var accessTokenLifetime = Duration.seconds(15 * 60)

        /// The lifetime of a refresh token, from its issue. Each rotation issues a new one.
        public var refreshTokenLifetime = Duration.seconds(30 * 24 * 60 * 60)

        /// How long ago a user may have signed in for the requests at some paths, with the wildcards of a fault's rule.
        /// Requests of an older session get 401 `STEP_UP_REQUIRED` with the challenge of RFC 9470; a refresh does not
        /// change that, and another sign-in does.
        public var recentSignIns: [String: Duration] = [:]

        /// The resources (RFC 8707) that have access tokens of their own, by the paths of their requests, with the
        /// wildcards of a fault's rule. Elsewhere the tokens for no resource are accepted, and no others.
        public var resources: [String: String] = [:]

        /// The grace window: the time after a rotation in which the previous refresh token still returns its successor.
        ///
        /// Zero, the default, treats any second use as theft and revokes the family (RFC 9700 §4.14.2).
        public var rotationGrace = Duration.zero

        /// How identifiers, tokens and responses are written.
        public var dialect = Dialect.standard

        /// The identity provider whose tokens `POST /auth/social/login` accepts.
        public var provider = DevelopmentProvider()

        /// The client that may call `/oauth2/token` and `/oauth2/revoke`.
        public var oauth2Client = OAuth2Client(id: "latchkey-dev", secret: "development-only")

        /// How long a device code is valid (RFC 8628 §3.2), in whole seconds.
        public var deviceCodeLifetime = Duration.seconds(600)

        /// The shortest pause between two polls with a device code, in whole seconds.
        public var devicePollInterval = Duration.seconds(5)

        /// The limits of a request's size and duration.
        public var limits = Limits()

        /// Whether a new database starts with a dozen articles by a built-in author.
        public var seedsArticles = true

        /// The faults, from the first request on.
        public var faults = FaultPlan.none

        /// Whether `/dev/faults`, `/dev/expire` and `/dev/stats` exist. They require no authentication.
        public var allowsDevEndpoints = false

        /// The number of requests that the journal holds.
        public var journalCapacity = 20_000

        /// The number of connections that the kernel may queue before they are accepted.
        public var backlog = 2048

        /// Whether `start` raises this process's limit of open files to what the system allows.
        ///
        /// A thousand connections with both ends in one process need more than the usual 1,024 descriptors.
        public var raisesOpenFileLimit = true

        /// How long `stop` waits for requests in progress before it cancels them.
        public var shutdownGrace = Duration.seconds(2)

        /// The logger, silent by default. Tokens, headers and bodies are never logged.
        public var logger = Logger(label: "dev-backend", factory: { _ in SwiftLogNoOpLogHandler() })

        /// The wall clock, for tokens, timestamps and the `Date` field.
        public var now: @Sendable () -> Date = { Date() }

        /// Creates the default configuration.
        public init() {}

        var effectiveUploadFolder: String {
            if let uploadFolder { return uploadFolder }
            switch database {
            case .memory: return FileManager.default.temporaryDirectory.path
            case .file(let path): return URL(fileURLWithPath: path).deletingLastPathComponent().path
            }
        }
    }

    /// Where the data is stored.
    public enum DatabaseLocation: Sendable, Hashable {
        /// A private database that is discarded with the server.
        case memory
        /// A SQLite file in WAL mode, created when absent. Sessions survive a restart on the same file.
        case file(String)
    }

    /// The limits of a request, in bytes, characters, items or time. A character is a Unicode code point, as in
    /// `maxLength` of JSON Schema: at most four bytes of UTF-8. (A `Character` of Swift has no largest size.)
    public struct Limits: Sendable, Hashable {
        /// Bytes in a profile image: 5 MiB.
        public var imageBytes = 5 * 1024 * 1024
        /// Bytes in a body that is not an upload: 256 KiB.
        public var bodyBytes = 256 * 1024
        /// Bytes in a multipart body beside the image: 64 KiB.
        public var multipartOverheadBytes = 64 * 1024
        /// Parts in a multipart body.
        public var multipartParts = 16
        /// Bytes in the header fields of one part.
        public var multipartHeaderBytes = 8 * 1024
        /// Characters in a user's name.
        public var nameCharacters = 50
        /// Characters in an article's title.
        public var titleCharacters = 200
        /// Characters in an article's body.
        public var articleCharacters = 20_000
        /// Articles in one page.
        public var pageItems = 100
        /// Articles in a page without a `limit` in the request.
        public var defaultPageItems = 20
        /// Characters in an `Idempotency-Key`.
        public var idempotencyKeyCharacters = 255
        /// Bytes of memory that the bodies of all requests in progress may take, images left out: 64 MiB. A request
        /// whose body does not fit gets 503 `BODY_MEMORY_EXHAUSTED`.
        public var bufferedBodyBytes = 64 * 1024 * 1024
        /// Bytes on disk that the images of all uploads in progress may take: 1 GiB. An upload that does not fit, or
        /// whose disk is full, gets 503 `UPLOAD_SPACE_EXHAUSTED`.
        public var uploadBytes = 1024 * 1024 * 1024
        /// The idle timeout of a body, without the time in which the server does not read. After it the response is 408
        /// `BODY_TIMEOUT`, and the connection is closed.
        public var bodyIdleTimeout = Duration.seconds(15)
        /// The total deadline of a body, without the time in which the server does not read. The response is the same.
        public var bodyTotalTimeout = Duration.seconds(120)

        /// The idle timeout of a connection without a request in progress, also of one whose request has no whole head.
        public var connectionIdleTimeout = Duration.seconds(600)

        /// Event streams that are open at a time. Another one gets 503 `TOO_MANY_STREAMS`.
        public var eventStreams = 1000
        /// The pause after which an event stream without events sends a comment.
        public var eventHeartbeat = Duration.seconds(15)
        /// The pause that an event stream asks its client to make before it reconnects.
        public var eventRetry = Duration.seconds(1)

        /// Creates the default limits.
        public init() {}
    }
}

extension Duration {
    /// Whole milliseconds, rounded down.
    var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000)
    }

    /// Milliseconds with their fraction.
    var milliseconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) * 1e3 + Double(attoseconds) / 1e15
    }

    /// Seconds with their fraction, for arithmetic with `Date`.
    var seconds: Double { milliseconds / 1e3 }

    /// Whole seconds, rounded up: a protocol field that counts seconds must never promise less than was meant.
    var secondsRoundedUp: Int { Int(seconds.rounded(.up)) }
}
