public import AuthInterface
import AuthTesting
public import Foundation
import Hummingbird
import NIOConcurrencyHelpers

/// The server of the tests, on a free port of loopback: a login, a refresh that rotates, and the notes of a user.
///
/// | call | response |
/// |---|---|
/// | `POST login {name}` | a pair of tokens |
/// | `POST auth/refresh {refreshToken}` | the next pair; 401 with a code for a token that was used |
/// | `GET notes` | the notes of the login that the access token names; 401 for a token that has expired |
/// | `GET elsewhere` | a redirect to the notes of another server |
public struct NotesServer: Sendable {
    fileprivate struct Contents {
        let tokens = RotatingTokenServer()
        var issued: Set<String> = []
        var expired: Set<String> = []
        var authorizations: [String?] = []
    }

    /// Where it listens, such as `http://127.0.0.1:49152`.
    public let url: URL
    fileprivate let contents: NIOLockedValueBox<Contents>

    /// Runs a server as long as a test, which gets it and decides where `GET elsewhere` leads.
    ///
    /// - Throws: What the test throws; ``NoServer``.
    public static func run<Value>(
        elsewhere: URL? = nil, _ test: (NotesServer) async throws -> Value
    ) async throws -> Value {
        let contents = NIOLockedValueBox(Contents())
        return try await serving(router(contents, elsewhere)) { url in
            try await test(NotesServer(url: url, contents: contents))
        }
    }

    /// The `Authorization` fields of the requests for notes, in order.
    public var authorizations: [String?] { contents.withLockedValue { $0.authorizations } }

    /// The number of refreshes that reached the server, successful or not.
    public var refreshes: Int { contents.withLockedValue { $0.tokens.refreshes } }

    /// Whether a refresh token was used twice, which ends a session.
    public var sawReuse: Bool { contents.withLockedValue { $0.tokens.reuses > 0 } }

    /// Starts a session, as `POST login` does.
    public func signIn(_ name: String = "ada") -> TokenRefreshResult {
        contents.withLockedValue { $0.issue($0.tokens.signIn(name)) }
    }

    /// Refuses all tokens of a user's first login.
    public func endSession(of name: String) {
        contents.withLockedValue { $0.tokens.revoke("refresh-\(name)1-0") }
    }

    /// A refresh call that needs no HTTP client, for the tests of others.
    public var handler: any TokenRefreshHandler { DirectRefresh(contents: contents) }

    /// Makes all access tokens expire that were issued so far.
    public func expireTokens() {
        contents.withLockedValue { $0.expired = $0.issued }
    }

    private static func router(
        _ contents: NIOLockedValueBox<Contents>, _ elsewhere: URL?
    ) -> Router<BasicRequestContext> {
        let router = Router()
        router.post("login") { request, context in
            let login = try await request.decode(as: Login.self, context: context)
            return contents.withLockedValue { Pair($0.issue($0.tokens.signIn(login.name))) }
        }
        router.post("auth/refresh") { request, context in
            let call = try await request.decode(as: Renewal.self, context: context)
            let pair = contents.withLockedValue { contents in
                (try? contents.tokens.refresh(call.refreshToken)).map { Pair(contents.issue($0)) }
            }
            guard let pair else { return try refusal(of: request, context, code: "REFRESH_TOKEN_INVALID") }
            return try context.responseEncoder.encode(pair, from: request, context: context)
        }
        router.get("notes") { request, context in
            let field = request.headers[.authorization]
            let login = contents.withLockedValue { $0.login(of: field) }
            guard let login else { return try refusal(of: request, context, code: "TOKEN_EXPIRED") }
            let notes = [Note(id: 1, text: "Milk for \(login)")]
            return try context.responseEncoder.encode(notes, from: request, context: context)
        }
        router.get("elsewhere") { _, _ in
            let notes = elsewhere?.appendingPathComponent("notes").absoluteString
            return Response.redirect(to: notes ?? "/notes", type: .temporary)
        }
        return router
    }

    private static func refusal(
        of request: Request, _ context: BasicRequestContext, code: String
    ) throws -> Response {
        var response = try context.responseEncoder.encode(Failure(code: code), from: request, context: context)
        response.status = .unauthorized
        response.headers[.wwwAuthenticate] = #"Bearer error="invalid_token""#
        return response
    }
}

/// Exchanges refresh tokens without HTTP.
private struct DirectRefresh: TokenRefreshHandler {
    let contents: NIOLockedValueBox<NotesServer.Contents>

    func refresh(_ request: TokenRefreshRequest) throws -> TokenRefreshResult {
        try contents.withLockedValue { try $0.issue($0.tokens.refresh(request)) }
    }
}

extension NotesServer.Contents {
    fileprivate mutating func issue(_ tokens: TokenRefreshResult) -> TokenRefreshResult {
        issued.insert(tokens.accessToken)
        return tokens
    }

    fileprivate mutating func login(of field: String?) -> String? {
        authorizations.append(field)
        guard let field, field.hasPrefix("Bearer ") else { return nil }
        let token = String(field.dropFirst(7))
        guard tokens.accepts(token), !expired.contains(token) else { return nil }
        return RotatingTokenServer.login(of: token)
    }
}

private struct Login: Decodable { let name: String }
private struct Renewal: Decodable { let refreshToken: String }
private struct Note: ResponseCodable { let id: Int, text: String }
private struct Failure: ResponseEncodable { var success = false, code: String }

private struct Pair: ResponseEncodable {
    let accessToken: String, refreshToken: String?

    init(_ tokens: TokenRefreshResult) {
        (accessToken, refreshToken) = (tokens.accessToken, tokens.refreshToken)
    }
}
