import ArticlesUI
import DataAPI
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// What the routes know of a request.
struct WebContext: RequestContext {
    var coreContext: CoreRequestContextStorage

    /// The port of this server.
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
    let configuration: WebServer.Configuration

    var router: Router<WebContext> {
        let router = Router(context: WebContext.self)
        router.add(middleware: AccessMiddleware(access: access))
        router.get("/") { request, _ in try await start(request) }
        for path in ["/start", "/sign-in", "/articles", "/compose", "/account", "/articles/:id"] {
            router.get(RouterPath(path)) { request, context in try await page(request, context) }
        }
        router.get("/sign-in/photo") { _, _ in try await photo(window.photo) }
        router.get("/account/photo") { _, _ in try await photo(window.accountPhoto) }
        router.get("/events") { request, _ in await events(request) }
        router.get("/style.css") { _, _ in Response(Assets.style, type: "text/css; charset=utf-8") }
        router.get("/script.js") { _, _ in Response(Assets.script, type: "text/javascript; charset=utf-8") }
        router.get("/icon.svg") { _, _ in Response(Assets.icon, type: "image/svg+xml") }
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

    // MARK: Pages

    private func start(_ request: Request) async throws -> Response {
        await window.load()
        return await Response(redirectingTo: window.location)
    }

    private func page(_ request: Request, _ context: WebContext) async throws -> Response {
        let requested = location(of: request, context)
        // A tab that follows another one shows what the window shows, also after a redirect: only a user goes to
        // another place.
        let isFollowing = request.uri.queryParameters["follow"] != nil
        if !isFollowing { await window.visit(requested) }
        await window.load()
        let page = await window.page(language(of: request), access)
        guard page.location == requested else {
            return Response(redirectingTo: page.location, query: isFollowing ? "?follow" : "")
        }
        return Response(page.html, type: "text/html; charset=utf-8")
    }

    private func location(of request: Request, _ context: WebContext) -> Location {
        switch request.uri.path {
        case "/start": .launch
        case "/sign-in": .signIn
        case "/compose": .compose
        case "/account": .account
        case _ where context.parameters.get("id") != nil: .article(id(in: context))
        default: .articles
        }
    }

    private func id(in context: WebContext) -> Article.ID {
        let segment = context.parameters.get("id") ?? ""
        return Article.ID(rawValue: segment.removingPercentEncoding ?? segment)
    }

    private func photo(_ photo: Data?) throws -> Response {
        guard let photo else { throw HTTPError(.notFound) }
        return Response(photo, type: "image/jpeg")
    }

    private func language(of request: Request) -> Language { Language(accepted: request.headers[.acceptLanguage]) }

    // MARK: Live updates

    /// The changes of the page as server-sent events.
    private func events(_ request: Request) async -> Response {
        let updates = await window.updates(language(of: request), access)
        let body = ResponseBody { writer in
            for await update in updates {
                try await writer.write(ByteBuffer(string: update.map { "data: \($0.event)\n\n" } ?? ":\n\n"))
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: [.contentType: "text/event-stream"], body: body)
    }

    // MARK: Forms

    /// The bytes of a form beside the photo: 1 MiB.
    private static let formBytes = 1024 * 1024

    /// Reads a form of a page.
    ///
    /// - Returns: Its fields, and the number of the session on whose page it was.
    /// - Throws: `HTTPError` with status 403 when the form is not of a page of this server.
    private func form(in request: Request) async throws -> (FormFields, number: Int) {
        let fields = try await FormFields(request, upTo: configuration.photoBytes + Self.formBytes)
        // A form that is too large was not kept. The browser has said where it is from, and no field of it is used.
        if fields.isTooLarge { return (fields, await window.formNumber) }
        guard let number = access.formNumber(in: fields["form-token"]) else { throw HTTPError(.forbidden) }
        return (fields, number)
    }
}

extension Response {
    /// A whole response.
    init(_ text: String, status: HTTPResponse.Status = .ok, type: String) {
        self.init(Data(text.utf8), status: status, type: type)
    }

    init(_ data: Data, status: HTTPResponse.Status = .ok, type: String) {
        let body = ResponseBody(byteBuffer: ByteBuffer(bytes: data))
        self.init(status: status, headers: [.contentType: type], body: body)
    }

    /// A redirect to a page, with GET.
    init(redirectingTo location: Location, query: String = "") {
        self.init(status: .seeOther, headers: [.location: location.path + query])
    }
}
