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
    private struct State {
        var hasExpired = false
        var authorizations: [String?] = []
    }

    /// Where it listens, such as `http://127.0.0.1:49152`.
    public private(set) var url = URL(fileURLWithPath: "/")
    private let tokens = RotatingTokenServer()
    private let state = NIOLockedValueBox(State())

    /// Runs a server as long as a test, which gets it and decides where `GET elsewhere` leads.
    ///
    /// - Throws: What the test throws; ``NoServer``.
    public static func run<Value>(
        elsewhere: URL? = nil, _ test: (NotesServer) async throws -> Value
    ) async throws -> Value {
        var server = NotesServer()
        return try await serving(server.router(elsewhere)) { url in
            server.url = url
            return try await test(server)
        }
    }

    /// The `Authorization` fields of the requests for notes, in order.
    public var authorizations: [String?] { state.withLockedValue { $0.authorizations } }

    /// The number of refreshes that reached the server, successful or not.
    public var refreshes: Int { tokens.refreshes }

    /// Whether a refresh token was used twice, which ends a session.
    public var sawReuse: Bool { tokens.reuses > 0 }

    /// Starts a session, as `POST login` does.
    public func signIn(_ name: String = "ada") -> TokenRefreshResult { tokens.signIn(name) }

    /// Refuses all tokens of a user's first login.
    public func endSession(of name: String) { tokens.revoke("refresh-\(name)1-0") }

    /// A refresh call that needs no HTTP client, for the tests of others.
    public var handler: any TokenRefreshHandler { ScriptedRefreshHandler(server: tokens) }

    /// Makes the first access token of each login expire.
    public func expireTokens() { state.withLockedValue { $0.hasExpired = true } }

    private func router(_ elsewhere: URL?) -> Router<BasicRequestContext> {
        let router = Router()
        router.post("login") { request, context in
            Pair(tokens.signIn(try await request.decode(as: Login.self, context: context).name))
        }
        router.post("auth/refresh") { request, context in
            let call = try await request.decode(as: Renewal.self, context: context)
            guard let pair = try? tokens.refresh(call.refreshToken) else {
                return try refusal(of: request, context, code: "REFRESH_TOKEN_INVALID")
            }
            return try context.responseEncoder.encode(Pair(pair), from: request, context: context)
        }
        router.get("notes") { request, context in
            guard let login = login(of: request.headers[.authorization]) else {
                return try refusal(of: request, context, code: "TOKEN_EXPIRED")
            }
            let notes = [Note(id: 1, text: "Milk for \(login)")]
            return try context.responseEncoder.encode(notes, from: request, context: context)
        }
        router.get("elsewhere") { _, _ in
            let notes = elsewhere?.appendingPathComponent("notes").absoluteString
            return Response.redirect(to: notes ?? "/notes", type: .temporary)
        }
        return router
    }

    /// The login that an access token names; `nil` for one that is not valid.
    private func login(of field: String?) -> String? {
        let hasExpired = state.withLockedValue { state in
            state.authorizations.append(field)
            return state.hasExpired
        }
        guard let field, field.hasPrefix("Bearer "), case let token = String(field.dropFirst(7)),
            tokens.accepts(token), !(hasExpired && token.hasSuffix("-0"))
        else { return nil }
        return RotatingTokenServer.login(of: token)
    }

    private func refusal(of request: Request, _ context: BasicRequestContext, code: String) throws -> Response {
        var response = try context.responseEncoder.encode(Failure(code: code), from: request, context: context)
        response.status = .unauthorized
        response.headers[.wwwAuthenticate] = #"Bearer error="invalid_token""#
        return response
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
