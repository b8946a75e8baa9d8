import HTTPTypes
import Hummingbird

/// All routes. It dispatches to handlers, names routes for the statistics, and rejects unknown paths and methods.
struct RouteTable: Sendable {
    static let basePath = "/api/v1"

    /// The routes, in the order in which they are tried.
    let routes: [Route]

    /// A path relative to the base path; the whole path when it is elsewhere.
    static func relativePath(_ path: String) -> String {
        guard path.hasPrefix(basePath + "/") else { return path }
        return String(path.dropFirst(basePath.count))
    }

    func route(_ method: HTTPRequest.Method, _ path: String) -> Route? {
        routes.first { $0.method == method && $0.pattern.matches(path) }
    }

    func rejection(_ path: String) -> APIError {
        let allowed = routes.filter { $0.pattern.matches(path) }.map(\.method)
        return allowed.isEmpty ? .notFound : .methodNotAllowed(allowed)
    }
}

struct Route: Sendable {
    typealias Handler = @Sendable (Request, Exchange) async throws -> Response

    let method: HTTPRequest.Method
    /// The pattern, such as `/articles/{id}`.
    let path: String
    /// Below the base path, except for a well-known path (RFC 8615).
    let fullPath: String
    let handler: Handler
    fileprivate let pattern: PathPattern

    init(_ method: HTTPRequest.Method, _ path: String, handler: @escaping Handler) {
        self.method = method
        self.path = path
        self.handler = handler
        fullPath = path.hasPrefix("/.well-known/") ? path : RouteTable.basePath + path
        pattern = PathPattern(fullPath.replacing(/\{[a-z]+\}/, with: "*"))
    }

    /// The segment of a path that stands where the pattern has a name in braces; empty without one.
    func parameter(in path: String) -> String {
        let segments = zip(fullPath.split(separator: "/"), path.split(separator: "/"))
        return segments.first { $0.0.hasPrefix("{") }.map { String($0.1) } ?? ""
    }

    var isRefresh: Bool { method == .post && (path == "/auth/refresh" || path == "/oauth2/token") }
}
