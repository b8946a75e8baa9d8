import ArticlesUI
import DataAPI
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

struct WebContext: RequestContext {
    var coreContext: CoreRequestContextStorage

    let port: Int

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        port = source.channel.localAddress?.port ?? 0
    }
}

/// The URLs of the pages and of what the user can do on them.
///
/// A page is a GET, and what changes something is a POST that redirects to a page, so that a reload repeats nothing.
struct WebRoutes: Sendable {
    let window: WebWindow
    let access: AccessGuard
    let photoBytes: Int

    var router: Router<WebContext> {
        let router = Router(context: WebContext.self)
        router.add(middleware: AccessMiddleware(access: access, window: window))
        router.get("/") { _, _ in
            await window.load()
            return await Response(redirectingTo: window.location)
        }
        for path in Location.places.map(\.path) + ["/articles/:id"] {
            router.get(RouterPath(path)) { request, context in try await page(request, context) }
        }
        router.get("/sign-in/photo") { _, _ in try await photo(window.photo(isOfUser: false)) }
        router.get("/account/photo") { _, _ in try await photo(window.photo(isOfUser: true)) }
        router.get("/events") { request, _ in await events(request) }
        for (path, bytes, type) in [
            ("/style.css", PackageResources.style_css, "text/css; charset=utf-8"),
            ("/script.js", PackageResources.script_js, "text/javascript; charset=utf-8"),
            ("/icon.svg", PackageResources.icon_svg, "image/svg+xml"),
        ] {
            router.get(RouterPath(path)) { _, _ in Response(Data(bytes), type: type) }
        }
        for (path, action) in WebAction.all {
            router.post(RouterPath(path)) { request, context in
                let (fields, number) = try await form(in: request)
                if await number == window.formNumber {
                    await action(WebAction(window: window, fields: fields, id: id(in: context)))
                }
                return await Response(redirectingTo: window.location)
            }
        }
        return router
    }

    private func page(_ request: Request, _ context: WebContext) async throws -> Response {
        let requested = location(of: request, context)
        // A tab that follows another one shows what the window shows, also after a redirect: only a user goes to
        // another place. A page that is shown asks for its changes, which is no reason to load anything.
        let query = request.uri.query ?? ""
        let isLive = query == "live"
        if !isLive, query != "follow" { await window.visit(requested) }
        if !isLive { await window.load() }
        let page = await window.page(request.language, access)
        guard page.location == requested else {
            return Response(redirectingTo: page.location, query: isLive || query == "follow" ? "?\(query)" : "")
        }
        return Response(page.html)
    }

    private func location(of request: Request, _ context: WebContext) -> Location {
        if context.parameters.get("id") != nil { return .article(id(in: context)) }
        return Location.places.first { $0.path == request.uri.path } ?? .main(nil)
    }

    private func id(in context: WebContext) -> Article.ID {
        let segment = context.parameters.get("id") ?? ""
        return Article.ID(rawValue: segment.removingPercentEncoding ?? segment)
    }

    private func photo(_ photo: Data?) throws -> Response {
        guard let photo else { throw HTTPError(.notFound) }
        return Response(photo, type: "image/jpeg")
    }

    /// Server-sent events: one at once, and one after each change of the page.
    private func events(_ request: Request) async -> Response {
        let language = request.language
        let (stream, change) = await window.changes()
        let body = ResponseBody { writer in
            var last: Page?
            for await _ in stream {
                let page = await window.page(language, access, notifying: change)
                if page != last { try await writer.write(ByteBuffer(string: "data: changed\n\n")) }
                last = page
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: [.contentType: "text/event-stream"], body: body)
    }

    /// Reads a form, and the number of the session on whose page it was.
    private func form(in request: Request) async throws -> (FormFields, number: Int) {
        let fields = try await FormFields(request, upTo: photoBytes + 1024 * 1024)
        // A form that is too large was not kept. The browser has said where it is from, and no field of it is used.
        if fields.isTooLarge { return (fields, await window.formNumber) }
        guard let number = access.formNumber(in: fields["form-token"]) else { throw HTTPError(.forbidden) }
        return (fields, number)
    }
}

extension Request {
    var language: Language { Language(accepted: headers[.acceptLanguage]) }
}

extension Response {
    init(_ html: String, status: HTTPResponse.Status = .ok) {
        self.init(Data(html.utf8), status: status, type: "text/html; charset=utf-8")
    }

    init(_ data: Data, status: HTTPResponse.Status = .ok, type: String) {
        let body = ResponseBody(byteBuffer: ByteBuffer(bytes: data))
        self.init(status: status, headers: [.contentType: type], body: body)
    }

    init(redirectingTo location: Location, query: String = "") {
        self.init(status: .seeOther, headers: [.location: location.path + query])
    }
}
