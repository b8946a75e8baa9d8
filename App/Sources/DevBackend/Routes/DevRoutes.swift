import HTTPTypes
import Hummingbird
import MultipartForms

/// `/dev`: fault injection and statistics for a test in another process.
///
/// A page of a browser is always refused: its request has `Origin` or `Sec-Fetch-Site` (Fetch Standard), and
/// where a name was made to resolve to this machine, the `Host` of that name. A form cannot send JSON.
struct DevRoutes: Sendable {
    let database: BackendDatabase
    let faults: FaultInjector
    let ledger: RequestLedger
    let limits: DevBackend.Limits

    var routes: [Route] {
        [
            route(.post, "/dev/faults") { request, exchange in
                faults.plan = try await request.json(FaultPlan.self, upTo: limits.bodyBytes)
                return try exchange.success(Payload.Empty?.none)
            },
            route(.post, "/dev/expire") { _, exchange in
                try await database.startNextEpoch()
                return try exchange.success(Payload.Empty?.none)
            },
            route(.get, "/dev/stats") { _, exchange in try exchange.success(ledger.statistics) },
        ]
    }

    private func route(_ method: HTTPRequest.Method, _ path: String, handler: @escaping Route.Handler) -> Route {
        Route(method, path) { request, exchange in
            let isOfPage = request.headers[.origin] != nil || !["none", nil].contains(request.headers[.secFetchSite])
            guard !isOfPage, request.isForLoopback else {
                throw APIError(
                    .forbidden, "ONLY_FOR_PROGRAMS",
                    "Programs on this machine may call this path, and no page of a browser.")
            }
            if method == .post {
                let type = request.headers[.contentType].flatMap { ParameterizedValue($0) }?.value.lowercased()
                guard type == "application/json" else {
                    throw APIError(.unsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE", "The body must be JSON.")
                }
            }
            return try await handler(request, exchange)
        }
    }
}

extension Request {
    /// Whether the only `Host` names this machine, and no server of names was asked.
    fileprivate var isForLoopback: Bool {
        let name = /(localhost|[a-z0-9.-]+\.localhost|\[::1\]|127\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3})(:[0-9]{0,5})?/
        return headers[.host] == nil && head.authority?.lowercased().wholeMatch(of: name) != nil
    }
}
