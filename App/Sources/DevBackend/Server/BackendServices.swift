import Foundation
import HTTPTypes

/// The server's object graph, built once from the configuration.
struct BackendServices: Sendable {
    let database: BackendDatabase
    let sessions: Sessions
    let faults: FaultInjector
    let ledger: RequestLedger
    let feed: ArticleFeed
    let pipeline: RequestPipeline

    init(_ configuration: DevBackend.Configuration) async throws {
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
        let authenticator = Authenticator(
            database: database, accessTokens: accessTokens, faults: faults, ledger: ledger,
            expiredTokenStatus: configuration.dialect.expiredTokenStatus,
            accessTokenField: configuration.dialect.accessTokenField.flatMap { HTTPField.Name($0) },
            now: configuration.now)
        let limits = configuration.limits
        feed = ArticleFeed(database: database, limit: limits.eventStreams)
        let uploads = try UploadFolder(
            configuration.effectiveUploadFolder,
            budget: ByteBudget(limit: limits.uploadBytes) { [ledger] in ledger.noteMaximum(\.maxUploadBytes, $0) })
        var routes = AuthRoutes(
            sessions: sessions, authenticator: authenticator, provider: configuration.provider, uploads: uploads,
            limits: limits
        ).routes
        routes += UserRoutes(database: database, authenticator: authenticator).routes
        // Before the articles: `events` is no identifier.
        routes += EventRoutes(feed: feed, authenticator: authenticator, limits: limits).routes
        routes +=
            ArticleRoutes(
                articles: Articles(database: database), feed: feed, authenticator: authenticator, limits: limits,
                now: configuration.now
            ).routes
        routes +=
            OAuth2Routes(
                sessions: sessions, client: configuration.oauth2Client, limits: limits,
                pending: PendingAuthorizations(
                    deviceLifetime: configuration.deviceCodeLifetime, interval: configuration.devicePollInterval,
                    now: configuration.now)
            ).routes
        routes += ContractRoutes().routes
        if configuration.allowsDevEndpoints {
            routes += DevRoutes(database: database, feed: feed, faults: faults, ledger: ledger, limits: limits).routes
        }
        pipeline = RequestPipeline(
            routes: RouteTable(routes), faults: faults, ledger: ledger,
            bodyMemory: ByteBudget(limit: limits.bufferedBodyBytes) { [ledger] in
                ledger.noteMaximum(\.maxBufferedBodyBytes, $0)
            },
            credentialFields: CredentialFields(dialect: configuration.dialect),
            dialect: configuration.dialect,
            publicOrigin: configuration.publicOrigin?.absoluteString, logger: configuration.logger,
            now: configuration.now)
    }
}
