/// The token of one request, and its origin.
///
/// A request that is refused passes its token to ``TokenProvider/replacement(after:)``. ``session`` and ``generation``
/// show the provider whether the token was current or already replaced when it was refused, and whether it belongs to
/// the current session.
public struct SessionToken: Sendable {
    /// The access token.
    public var value: String { content.value }

    /// The refresh token, for servers that require both in header fields. `nil`: the session has none.
    public var refreshToken: String? { content.refreshToken }

    /// The login the token belongs to.
    public var session: SessionID { content.session }

    /// The generation of the bundle the token came from.
    public let generation: Int

    /// The key to which the token is bound. `nil`: none, any request may carry it. Equality ignores it.
    public var binding: TokenBinding? { content.binding }

    /// The access token and the refresh token, which a server may quote.
    package var secrets: [String] { content.secrets }

    /// What the copies of a token share. A call copies its token some ten times, and a crowd waits with one each:
    /// without it a refresh takes eight times as long for each of 1,000 requests that wait for it.
    private let content: Content

    private final class Content: Sendable {
        let value: String
        let refreshToken: String?
        let session: SessionID
        let binding: TokenBinding?
        let secrets: [String]

        init(value: String, refreshToken: String?, session: SessionID, binding: TokenBinding?) {
            (self.value, self.refreshToken, self.session, self.binding) = (value, refreshToken, session, binding)
            secrets = [value] + [refreshToken].compactMap(\.self)
        }
    }

    /// When and how the engine issued the token to a request. Equality ignores it.
    package var issuance = Issuance()

    /// The state of the engine when it issued a token, for the case that the server refuses it.
    package struct Issuance: Sendable, Hashable {
        /// How many refreshes of the session had failed in this process.
        package var failures = 0

        /// When the token replaced a refused one, on the engine's monotonic clock. `nil`: it replaced none.
        package var replacedAt: Duration?

        /// Whether a follower issued it, which has no refresh token for a field (G29).
        package var isFollowed = false

        package init(failures: Int = 0, replacedAt: Duration? = nil, isFollowed: Bool = false) {
            self.failures = failures
            self.replacedAt = replacedAt
            self.isFollowed = isFollowed
        }
    }

    /// Creates a token.
    public init(
        value: String, refreshToken: String? = nil, session: SessionID, generation: Int, binding: TokenBinding? = nil
    ) {
        self.generation = generation
        content = Content(value: value, refreshToken: refreshToken, session: session, binding: binding)
    }
}

extension SessionToken: Hashable {
    /// Compares the tokens and their origin.
    public static func == (first: SessionToken, second: SessionToken) -> Bool {
        first.generation == second.generation && first.value == second.value
            && first.refreshToken == second.refreshToken && first.session == second.session
    }

    /// Hashes the access token and its origin.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(value)
        hasher.combine(generation)
        hasher.combine(session)
    }
}

extension SessionToken: RedactedDescription {
    /// The session and the generation; never the token.
    public var description: String { "SessionToken(session: \(session), generation: \(generation))" }
}

extension String {
    /// Whether a header field can carry the text (RFC 9110 §5.5): not empty, printable ASCII, no space.
    ///
    /// Other text is refused by the server at best, and at worst splits one header field into two.
    package var fitsHeaderField: Bool { !isEmpty && utf8.allSatisfy { (0x21...0x7E).contains($0) } }
}
