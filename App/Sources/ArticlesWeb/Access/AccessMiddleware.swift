import ArticlesUI
import Foundation
import HTTPTypes
import Hummingbird

/// Asks the guard before a route is called, and adds the header fields of every response.
struct AccessMiddleware: RouterMiddleware {
    let access: AccessGuard

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
        case .refuse: return refusal(.forbidden, request)
        case .pass where offered != nil: return Response(status: .seeOther, headers: [.location: "/"])
        case .pass: break
        }
        do {
            return try await next(request, context)
        } catch let error as any HTTPResponseError {
            return refusal(error.status, request)
        } catch {
            return refusal(.internalServerError, request)
        }
    }

    /// Sets the cookie, and leads to the first page. After a link on a page of another site, a browser does not send
    /// the cookie with a redirect, and does with what a page of this server leads to.
    private func welcome(_ request: Request) -> Response {
        var response = Response(status: .seeOther, headers: [.location: "/"])
        if request.headers[.secFetchSite] == "cross-site" || request.headers[.secFetchSite] == "same-site" {
            response = page(request, .ok) { ["title": $0(.appName)] }
        }
        response.headers[.setCookie] = access.cookieField()
        return response
    }

    private func refusal(_ status: HTTPResponse.Status, _ request: Request) -> Response {
        page(request, status) { strings in
            status == .forbidden
                ? ["title": strings(.accessRefused), "text": strings(.accessHint)]
                : ["title": strings(.pageMissing), "text": "HTTP \(status.code)"]
        }
    }

    private func page(
        _ request: Request, _ status: HTTPResponse.Status, _ texts: (Strings) -> [String: String]
    ) -> Response {
        let language = Language(accepted: request.headers[.acceptLanguage])
        let members = texts(Strings(language)).merging(["language": language.rawValue]) { $1 }
        let page = PageTemplates.library.render(members, "plain")
        return Response(Data(page.utf8), status: status, type: "text/html; charset=utf-8")
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
