import ArticlesUI
import HTTPTypes
import Hummingbird

/// Asks the guard before a route is called, shows a page for an error, and adds the header fields of every response.
struct AccessMiddleware: RouterMiddleware {
    let access: AccessGuard
    let window: WebWindow

    // Concurrent, as the protocol's requirement is.
    @concurrent
    func handle(
        _ request: Request, context: WebContext, next: @concurrent (Request, WebContext) async throws -> Response
    ) async throws -> Response {
        var response = await response(to: request, context: context, next: next)
        for (name, value) in Self.headerFields {
            if let name = HTTPField.Name(name) { response.headers[name] = value }
        }
        return response
    }

    @concurrent
    private func response(
        to request: Request, context: WebContext, next: @concurrent (Request, WebContext) async throws -> Response
    ) async -> Response {
        let offered = request.uri.queryParameters["token"]
        switch access.decision(on: request.head, token: offered, port: context.port) {
        case .welcome:
            return welcome(request)
        case .refuse:
            return plainPage(request, .forbidden) { ["title": $0(.accessRefused), "text": $0(.accessHint)] }
        case .pass where offered != nil: return Response(status: .seeOther, headers: [.location: "/"])
        case .pass: break
        }
        do {
            return try await next(request, context)
        } catch {
            let status = (error as? any HTTPResponseError)?.status ?? .internalServerError
            let page = await window.page(request.language, access, ofError: status.code)
            return Response(page.html, status: status)
        }
    }

    /// Sets the cookie, and leads to the first page. After a link on a page of another site, a browser does not send
    /// the cookie with a redirect, and does with what a page of this server leads to.
    private func welcome(_ request: Request) -> Response {
        var response = Response(status: .seeOther, headers: [.location: "/"])
        if request.headers[.secFetchSite] == "cross-site" || request.headers[.secFetchSite] == "same-site" {
            response = plainPage(request, .ok) { ["title": $0(.appName)] }
        }
        response.headers[.setCookie] = access.cookieField()
        return response
    }

    private func plainPage(
        _ request: Request, _ status: HTTPResponse.Status, _ texts: (Strings) -> [String: String]
    ) -> Response {
        let language = request.language
        let members = texts(Strings(language)).merging(["language": language.rawValue]) { $1 }
        return Response(PageTemplates.library.render(members, "plain"), status: status)
    }

    /// Nothing is loaded from another origin, and nothing inline is run.
    private static let contentPolicy = [
        "default-src 'none'", "style-src 'self'", "script-src 'self'", "img-src 'self'", "connect-src 'self'",
        "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
    ].joined(separator: "; ")

    private static let headerFields = [
        ("Content-Security-Policy", contentPolicy), ("Referrer-Policy", "no-referrer"),
        ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cache-Control", "no-store"),
    ]
}
