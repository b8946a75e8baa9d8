import Foundation
import HTTPTypes

/// The server's object graph, built once from the configuration.
struct BackendServices: Sendable {
    let database: BackendDatabase
    let sessions: Sessions
    let faults: FaultInjector
    let ledger: RequestLedger
    let feed: ArticleFeed
    private let authenticator: Authenticator
    private let uploads: UploadFolder
    private let configuration: DevBackend.Configuration

    init(_ configuration: DevBackend.Configuration) async throws {
        self.configuration = configuration
        database = try await BackendDatabase(configuration)
        faults = FaultInjector(plan: configuration.faults)
        ledger = RequestLedger(capacity: configuration.journalCapacity)
        let accessTokens = AccessTokens(
            signingKey: database.signingKey, lifetime: configuration.accessTokenLifetime)
        sessions = Sessions(
            database: database,
            families: TokenFamilies(
                succession: RefreshToken.Succession(key: database.successionKey),
                lifetime: configuration.refreshTokenLifetime, grace: configuration.rotationGrace),
            accessTokens: accessTokens, ledger: ledger, dialect: configuration.dialect, now: configuration.now)
        authenticator = Authenticator(
            database: database, accessTokens: accessTokens, faults: faults, ledger: ledger,
            expiredTokenStatus: configuration.dialect.expiredTokenStatus,
            accessTokenField: configuration.dialect.accessTokenField.flatMap { HTTPField.Name($0) },
            recentSignIns: configuration.recentSignIns.map { (PathPattern($0), $1) },
            resources: configuration.resources.map { (PathPattern($0), $1) },
            now: configuration.now)
        feed = ArticleFeed(database: database, limit: configuration.limits.eventStreams)
        uploads = try UploadFolder(
            configuration.effectiveUploadFolder,
            budget: ByteBudget(limit: configuration.limits.uploadBytes) { [ledger] in
                ledger.raise(\.maxUploadBytes, to: $0)
            })
    }

    /// All routes.
    var routes: RouteTable {
        let (limits, now) = (configuration.limits, configuration.now)
        let auth = AuthRoutes(
            sessions: sessions, authenticator: authenticator, provider: configuration.provider, uploads: uploads,
            limits: limits)
        let users = UserRoutes(database: database, authenticator: authenticator)
        let events = EventRoutes(feed: feed, authenticator: authenticator, limits: limits)
        let articles = ArticleRoutes(
            articles: Articles(database: database), feed: feed, authenticator: authenticator, limits: limits, now: now)
        let oauth2 = OAuth2Routes(
            sessions: sessions, client: configuration.oauth2Client, limits: limits,
            resources: Set(configuration.resources.values),
            pending: PendingAuthorizations(
                deviceLifetime: configuration.deviceCodeLifetime, interval: configuration.devicePollInterval, now: now))
        let dev = DevRoutes(database: database, feed: feed, faults: faults, ledger: ledger, limits: limits)
        return RouteTable(
            auth.routes + users.routes + events.routes + articles.routes + oauth2.routes + ContractRoutes().routes
                + (configuration.allowsDevEndpoints ? dev.routes : []))
    }

    /// The path of the server's requests.
    var pipeline: RequestPipeline {
        RequestPipeline(
            routes: routes, faults: faults, ledger: ledger,
            bodyMemory: ByteBudget(limit: configuration.limits.bufferedBodyBytes) { [ledger] in
                ledger.raise(\.maxBufferedBodyBytes, to: $0)
            },
            credentialFields: CredentialFields(dialect: configuration.dialect),
            dialect: configuration.dialect,
            publicOrigin: configuration.publicOrigin?.absoluteString, logger: configuration.logger,
            now: configuration.now)
    }
}
