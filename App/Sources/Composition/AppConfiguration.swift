package import AuthInterface
import DataAPI
package import Foundation
package import NetworkCaching
import NetworkCore
package import OAuth2Flows
import Storage

/// The configuration of the application: server, store and refresh.
package struct AppConfiguration: Sendable {
    /// The default base URL: that of `articles serve`.
    package static let defaultBaseURL = "http://127.0.0.1:8080/api/v1"

    package static let applicationName = "articles"

    package var baseURL: URL
    package var store: StoreChoice

    /// Whether a flag, the environment or the file names the store.
    var isStoreNamed = true

    /// The folder of the application's caches. `nil`: responses are kept in memory.
    package var cacheFolder: URL?

    /// The folder of the journal of a session in files. `nil`: the user's usual one, apart from that of the tokens.
    package var journalFolder: URL?

    package var refresh = RefreshChoice.rest

    /// Which replays of a refresh the server tolerates after a lost response (G12).
    ///
    /// The default is `.sameKey`, which is part of the contract of the articles API. A replay that the server does not
    /// tolerate ends the session, so a server that ignores idempotency keys needs `.none`.
    package var replay = ReplayTolerance.sameKey

    /// The status of the response to an expired access token.
    package var expiredStatus = 401

    /// The header fields that carry tokens; `nil` is `Authorization: Bearer`.
    package var tokenFields: TokenFields?

    /// The profile, which has a session of its own; `nil` is the default one.
    package var profile: ProfileName?

    package init(baseURL: URL, store: StoreChoice = .file(folder: nil)) {
        self.baseURL = baseURL
        self.store = store
    }

    /// The location of the session, for people: the path of a file, `memory`, or the keyring.
    package var storeLocation: String { file?.path ?? (store == .memory ? "memory" : "the keyring") }

    /// The file of the session. `nil`: it is not in a file.
    package var file: URL? { (makeStore() as? FileTokenStore)?.file }

    func makeStore() -> any TokenStore { store.makeStore(account: account) }

    /// Creates the journal of the session, in another place than its store (G30). `nil`: the session ends with the
    /// process.
    func makeJournal() -> (any SessionJournal)? { store.makeJournal(in: journalFolder, account: account) }

    /// What the journal says of the stored session (G30); nothing where there is no journal.
    ///
    /// - Throws: `TokenStoreError`.
    package func journalEntry() async throws -> SessionJournalEntry {
        try await makeJournal()?.read() ?? SessionJournalEntry()
    }

    /// Creates a cache for the responses of a session: on disk if the session is, unless another process uses it.
    package func makeCache() -> ResponseCache {
        responseFolder.flatMap { try? ResponseCache(folder: $0) } ?? ResponseCache()
    }

    /// The cache on disk. `nil`: there is none, or a process uses it.
    var existingCache: ResponseCache? {
        guard let responseFolder, FileManager.default.fileExists(atPath: responseFolder.path) else { return nil }
        return try? ResponseCache(folder: responseFolder)
    }

    private var responseFolder: URL? {
        guard store != .memory else { return nil }
        return account.addingPercentEncoding(withAllowedCharacters: .alphanumerics).flatMap {
            cacheFolder?.appendingPathComponent($0, isDirectory: true)
        }
    }

    /// Each server and each profile has an account of its own in a folder, so a change of `--base-url` never sends the
    /// tokens of one server to another, and shows nothing of one on the screens of another.
    private var account: String {
        let origin = Origin(baseURL)?.description ?? baseURL.absoluteString
        let path = baseURL.path.split(separator: "/").joined(separator: "/")
        let server = path.isEmpty ? origin : "\(origin)/\(path)"
        return profile.map { "\($0)@\(server)" } ?? server
    }

    var authentication: AuthenticationPolicy {
        var policy = AuthenticationPolicy()
        policy.expiredStatuses = [expiredStatus]
        // The code of a 401 that is about the token of an identity provider.
        policy.refusals = .exceptCodes(["PROVIDER_TOKEN_INVALID"])
        if let tokenFields {
            policy.placement = .fields(accessToken: tokenFields.accessToken, refreshToken: tokenFields.refreshToken)
        }
        return policy
    }
}

extension AppConfiguration {
    /// Creates the handler that refreshes and revokes tokens.
    ///
    /// The articles API's logout and revocation endpoints end one session, and no other session of the user.
    func makeHandler(
        network: any UnauthenticatedNetworkService
    ) -> any TokenRefreshHandler & TokenRevocationHandler {
        switch refresh {
        case .rest:
            var rejection = RESTRejection()
            rejection.expiredStatuses = [401, expiredStatus]
            return RESTTokenRefreshHandler(
                network: network, rejection: rejection, replayTolerance: replay,
                // A server that wants both tokens in every request wants both in the refresh call.
                accessToken: tokenFields.flatMap { $0.refreshToken == nil ? nil : .field($0.accessToken) } ?? .omitted,
                refreshTokenField: tokenFields?.refreshToken, logoutAffectsSessionOnly: true)
        case .oauth2(let client):
            return OAuth2TokenRefreshHandler(
                tokenEndpoint: baseURL.appendingPathComponent("oauth2/token"),
                revocationEndpoint: baseURL.appendingPathComponent("oauth2/revoke"), client: client, network: network,
                replayTolerance: replay, revocationAffectsSessionOnly: true)
        }
    }
}

/// Header fields that carry tokens, in place of `Authorization`.
package struct TokenFields: Sendable, Hashable {
    package let accessToken: String

    /// For a server that needs both tokens in every request, and a refresh call that has both.
    package let refreshToken: String?

    /// Creates fields. Fails for names that are equal, that no header field can have (RFC 9110 §5.1), or that a request
    /// has for another reason.
    package init?(accessToken: String, refreshToken: String? = nil) {
        let reserved: Set<String> = [
            "accept", "authorization", "connection", "content-length", "content-type", "cookie", "expect", "host", "te",
            "transfer-encoding", "upgrade", "user-agent",
        ]
        for name in [accessToken, refreshToken].compactMap(\.self) {
            var fields = HTTPHeaders()
            guard (try? fields.append(name, "x")) != nil, !reserved.contains(name.lowercased()) else { return nil }
        }
        guard accessToken.lowercased() != refreshToken?.lowercased() else { return nil }
        self.accessToken = accessToken
        self.refreshToken = refreshToken
    }
}

/// An invalid configuration. The description is one line that says what to do, without a secret.
package struct ConfigurationError: Error, Sendable, CustomStringConvertible {
    package let description: String

    /// Whether a flag is invalid, and not the environment or a file.
    package let isUsage: Bool

    init(_ description: String, isUsage: Bool = false) {
        self.description = description
        self.isUsage = isUsage
    }
}

package enum RefreshChoice: Sendable, Hashable {
    /// By `POST auth/refresh`.
    case rest
    /// By `POST oauth2/token`, as this client.
    case oauth2(OAuth2Client)
}
