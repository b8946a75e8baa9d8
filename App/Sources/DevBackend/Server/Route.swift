import HTTPTypes
import Hummingbird

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

    /// Whether a request here is an attempt to refresh, with any outcome.
    var isRefresh: Bool { method == .post && (path == "/auth/refresh" || path == "/oauth2/token") }
}
