import HTTPTypes
import Hummingbird
import NIOCore

/// The server's object graph, built once from the configuration.
struct BackendServices: Sendable {
    let database: BackendDatabase
    let sessions: Sessions
    let faults: FaultInjector
    let ledger = RequestLedger()
    private let authenticator: Authenticator
    private let configuration: DevBackend.Configuration

    init(_ configuration: DevBackend.Configuration) async throws {
        self.configuration = configuration
        database = try await BackendDatabase(configuration)
        faults = FaultInjector(plan: configuration.faults)
        let accessTokens = AccessTokens(
            signer: TokenSigner(key: database.signingKey), lifetime: configuration.accessTokenLifetime)
        sessions = Sessions(
            database: database,
            families: TokenFamilies(
                successionKey: database.successionKey, lifetime: configuration.refreshTokenLifetime,
                grace: configuration.rotationGrace),
            accessTokens: accessTokens, ledger: ledger, now: configuration.now)
        authenticator = Authenticator(
            database: database, accessTokens: accessTokens, faults: faults, ledger: ledger,
            dialect: configuration.dialect, recentSignIns: configuration.recentSignIns.map { (PathPattern($0), $1) },
            now: configuration.now)
    }

    var pipeline: RequestPipeline {
        RequestPipeline(
            routes: RouteTable(routes: routes), faults: faults, ledger: ledger,
            credentialFields: configuration.dialect.credentialFields, now: configuration.now)
    }

    private var routes: [Route] {
        let (limits, now) = (configuration.limits, configuration.now)
        let auth = AuthRoutes(
            sessions: sessions, authenticator: authenticator, dialect: configuration.dialect, limits: limits)
        let users = UserRoutes(database: database, authenticator: authenticator)
        let events = EventRoutes(database: database, authenticator: authenticator, limits: limits)
        let articles = ArticleRoutes(
            articles: Articles(database: database), authenticator: authenticator, limits: limits, now: now)
        let pending = PendingAuthorizations(interval: configuration.devicePollInterval, now: now)
        let oauth2 = OAuth2Routes(
            sessions: sessions, client: configuration.oauth2Client, limits: limits, pending: pending)
        let dev = DevRoutes(database: database, faults: faults, ledger: ledger, limits: limits)
        // The contract of all routes but `/dev`, in OpenAPI 3.1. It is kept by hand, and the tests compare it with the
        // routes, and with what the routes respond.
        let contract = Route(.get, "/openapi.json") { _, _ in
            let document = ByteBuffer(bytes: PackageResources.openapi_json)
            return Response(
                status: .ok, headers: [.contentType: "application/json"], body: ResponseBody(byteBuffer: document))
        }
        // `/articles/events` is tried before `/articles/{id}`.
        return auth.routes + users.routes + events.routes + articles.routes + oauth2.routes + [contract]
            + (configuration.allowsDevEndpoints ? dev.routes : [])
    }
}
