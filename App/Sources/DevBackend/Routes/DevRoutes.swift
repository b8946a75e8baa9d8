import HTTPTypes
import Hummingbird
import MultipartForms

/// `/dev`: fault injection and statistics for a test in another process.
///
/// A page of a browser is always refused: its request has `Origin` or `Sec-Fetch-Site` (Fetch Standard), and
/// where a name was made to resolve to this machine, the `Host` of that name. A form cannot send JSON.
struct DevRoutes: Sendable {
    let database: BackendDatabase
    let feed: ArticleFeed
    let faults: FaultInjector
    let ledger: RequestLedger
    let limits: DevBackend.Limits

    var routes: [Route] {
        [
            route(.post, "/dev/faults") { request, context in
                let plan = try await request.json(FaultPlan.self, upTo: limits.bodyBytes, in: context.exchange)
                faults.plan = plan
                return try context.exchange.success(plan)
            },
            route(.post, "/dev/expire") { _, context in
                let epoch = try await database.startNextEpoch()
                feed.notify()
                return try context.exchange.success(["epoch": epoch])
            },
            route(.get, "/dev/stats") { _, context in
                try context.exchange.success(ledger.statistics)
            },
        ]
    }

    private func route(
        _ method: HTTPRequest.Method, _ path: String, handler: @escaping Route.Handler
    ) -> Route {
        Route(method, path) { request, context in
            let isOfPage = request.headers[.origin] != nil || !["none", nil].contains(request.headers[.secFetchSite])
            guard !isOfPage, try request.host().isLoopbackHost else { throw APIError.onlyForPrograms }
            if method == .post {
                let type = request.headers[.contentType].flatMap { ParameterizedValue($0) }?.value.lowercased()
                guard type == "application/json" else { throw APIError.jsonRequired }
            }
            return try await handler(request, context)
        }
    }
}

extension String {
    /// Whether a `Host` without its port names this machine, and no server of names was asked.
    fileprivate var isLoopbackHost: Bool {
        self == "localhost" || hasSuffix(".localhost") || self == "[::1]"
            || wholeMatch(of: /127\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}/) != nil
    }
}

extension APIError {
    fileprivate static let onlyForPrograms = APIError(
        .forbidden, "ONLY_FOR_PROGRAMS", "Programs on this machine may call this path, and no page of a browser.")
    fileprivate static let jsonRequired = APIError(
        .unsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE", "The body must be application/json.")
}
