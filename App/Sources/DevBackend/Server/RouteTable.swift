import HTTPTypes
import Hummingbird

/// All routes. It dispatches to handlers, names routes for the statistics, and rejects unknown paths and methods.
struct RouteTable: Sendable {
    static let basePath = "/api/v1"

    private let entries: [(pattern: PathPattern, route: Route)]
    private let responder: RouterResponder<BackendContext>

    /// Creates a table. The order of the routes has no effect: `/articles/events` is tried before `/articles/{id}`.
    init(_ routes: [Route]) {
        entries = routes.sorted { $0.placeholders < $1.placeholders }.map { route in
            let segments = route.fullPath.split(separator: "/").map { $0.hasPrefix("{") ? "*" : $0 }
            return (PathPattern(segments.joined(separator: "/")), route)
        }
        let router = Router(context: BackendContext.self)
        for route in routes {
            router.on(RouterPath(route.fullPath), method: route.method, use: route.handler)
        }
        responder = router.buildResponder()
    }

    /// The routes, in the order in which they are tried.
    var routes: [Route] { entries.map(\.route) }

    /// A path relative to the base path; the whole path when it is elsewhere.
    static func relativePath(_ path: String) -> String {
        guard path.hasPrefix(basePath + "/") else { return path }
        return String(path.dropFirst(basePath.count))
    }

    /// The route of a request. A HEAD has the route of its GET.
    func route(_ method: HTTPRequest.Method, _ path: String) -> Route? {
        let method = method == .head ? .get : method
        return entries.first { $0.route.method == method && $0.pattern.matches(path) }?.route
    }

    /// Runs the handler of a request.
    ///
    /// - Throws: 404 or 405 without a handler, and what the handler throws.
    func respond(to request: Request, context: BackendContext) async throws -> Response {
        guard route(request.method, request.uri.path) != nil else { throw rejection(of: request) }
        guard request.method == .head else { return try await responder.respond(to: request, context: context) }
        var head = request.head
        head.method = .get
        return try await responder.respond(to: Request(head: head, body: request.body), context: context)
    }

    private func rejection(of request: Request) -> APIError {
        let path = request.uri.path
        let allowed = entries.filter { $0.pattern.matches(path) }.map(\.route.method)
        return allowed.isEmpty ? .notFound : .methodNotAllowed(allowed)
    }
}

/// One method on one path below the base path.
struct Route: Sendable {
    typealias Handler = @Sendable (Request, BackendContext) async throws -> Response

    let method: HTTPRequest.Method
    /// The pattern, such as `/articles/{id}`.
    let path: String
    let handler: Handler

    init(_ method: HTTPRequest.Method, _ path: String, handler: @escaping Handler) {
        self.method = method
        self.path = path
        self.handler = handler
    }

    /// The path from the root: below the base path, except for a well-known path (RFC 8615).
    var fullPath: String { path.hasPrefix("/.well-known/") ? path : RouteTable.basePath + path }

    /// The number of segments that stand for any text.
    fileprivate var placeholders: Int { path.count { $0 == "{" } }

    /// Whether a request here is an attempt to refresh, with any outcome.
    var isRefresh: Bool { method == .post && (path == "/auth/refresh" || path == "/oauth2/token") }
}
