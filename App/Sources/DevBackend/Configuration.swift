public import Foundation
public import Logging

extension DevBackend {
    /// Everything a server can be told at its start. Every field has a default that suits a test.
    public struct Configuration: Sendable {
        /// The interface to bind. The server speaks cleartext HTTP, so it stays on loopback unless told otherwise.
        public var host = "127.0.0.1"

        /// The TCP port to bind; 0 asks the system for a free one.
        public var port = 0

        /// Where users, articles, files and token families live. In memory unless said otherwise.
        public var database = DatabaseLocation.memory

        /// How long an access token is valid, from its issue. Whole seconds are kept; a fraction is rounded up.
        public var accessTokenLifetime = Duration.seconds(15 * 60)

        /// How long a refresh token is valid, from its issue. Each rotation starts anew.
        public var refreshTokenLifetime = Duration.seconds(30 * 24 * 60 * 60)

        /// How long after its rotation the immediately previous refresh token still earns its successor.
        ///
        /// Zero, the default, treats any second use as theft and revokes the family (RFC 9700 §4.14.2).
        public var rotationGrace = Duration.zero

        /// The status of an answer to an expired access token.
        public var expiredTokenStatus = ExpiredTokenStatus.unauthorized

        /// A header field that may carry the access token in place of `Authorization`, such as `accessToken`.
        public var accessTokenField: String?

        /// The issuer whose tokens `POST /auth/social/login` accepts.
        public var provider = DevelopmentProvider()

        /// The client that may call `/oauth2/token` and `/oauth2/revoke`.
        public var oauth2Client = OAuth2Client(id: "latchkey-dev", secret: "development-only")

        /// The sizes and times beyond which a request is refused.
        public var limits = Limits()

        /// Whether a new database starts with a dozen articles by a built-in author.
        public var seedsArticles = true

        /// What goes wrong, from the first request on.
        public var faults = FaultPlan.none

        /// Whether `/dev/faults`, `/dev/expire` and `/dev/stats` exist. They ask for no authentication.
        public var allowsDevEndpoints = false

        /// How many of the latest requests the journal remembers.
        public var journalCapacity = 20_000

        /// Connections the kernel may queue before they are accepted.
        public var backlog = 2048

        /// Whether `start` lifts this process's limit of open files to what the system allows.
        ///
        /// A thousand connections with both ends in one process need more than the usual 1,024 descriptors.
        public var raisesOpenFileLimit = true

        /// How long `stop` waits for requests in progress before it cancels them.
        public var shutdownGrace = Duration.seconds(2)

        /// Where the server logs. Silent by default; no token, header or body is ever written to it.
        public var logger = Logger(label: "dev-backend", factory: { _ in SwiftLogNoOpLogHandler() })

        /// The wall clock: tokens, timestamps and the `Date` header all come from it.
        public var now: @Sendable () -> Date = { Date() }

        /// The defaults.
        public init() {}
    }

    /// Where the data lives.
    public enum DatabaseLocation: Sendable, Hashable {
        /// A private database that ends with the server.
        case memory
        /// A SQLite file in WAL mode, created when absent. Sessions survive a restart on the same file.
        case file(String)
    }

    /// The status of an answer to an expired access token. Every other refusal is a 401.
    public enum ExpiredTokenStatus: Int, Sendable, Codable, CaseIterable {
        /// 401, as RFC 6750 §3.1 has it.
        case unauthorized = 401
        /// 419, unregistered but widespread.
        case authenticationTimeout = 419
    }

    /// A confidential OAuth 2.0 client (RFC 6749 §2.1), or a public one when it has no secret.
    public struct OAuth2Client: Sendable {
        /// The client identifier (RFC 6749 §2.2).
        public var id: String
        /// The client secret, or nil for a public client.
        public var secret: String?

        /// A client as it was registered.
        ///
        /// - Parameters:
        ///   - id: the client identifier.
        ///   - secret: the client secret, or nil for a public client.
        public init(id: String, secret: String?) {
            self.id = id
            self.secret = secret
        }
    }

    /// Sizes in bytes (or characters, or items) and times beyond which a request is refused.
    public struct Limits: Sendable, Hashable {
        /// Bytes in a profile image: 5 MiB.
        public var imageBytes = 5 * 1024 * 1024
        /// Bytes in a body that is not an upload: 256 KiB.
        public var bodyBytes = 256 * 1024
        /// Bytes a multipart body may need beside the image: 64 KiB.
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
        /// Articles in a page when the request does not say.
        public var defaultPageItems = 20
        /// Characters in an `Idempotency-Key`.
        public var idempotencyKeyCharacters = 255
        /// Bytes of memory that the bodies of all requests in progress may take: 64 MiB. A request whose body no longer
        /// fits is refused with 503 `BODY_MEMORY_EXHAUSTED`.
        public var bufferedBodyBytes = 64 * 1024 * 1024
        /// How long the server waits for the next bytes of a body. The time in which it does not read is not counted.
        /// A request that takes longer is refused with 408 `BODY_TIMEOUT`, and its connection is closed.
        public var bodyIdleTimeout = Duration.seconds(15)
        /// How long the server waits for the bytes of a body in all, counted and refused in the same way.
        public var bodyTotalTimeout = Duration.seconds(120)

        /// The defaults.
        public init() {}
    }
}
