// swift-format-ignore-file: NeverForceUnwrap, OrderedImports

import DataAPI
import Foundation
import NetworkAsyncHTTPClient
import NetworkCore
import Storage
import TokenRefresh

let server = "http://127.0.0.1:8080/api/v1"
let api = NetworkClient(baseURL: URL(string: server)!, transport: AsyncHTTPClientTransport(), format: .envelope)
let store = FileTokenStore(application: "articles", account: server)
let session = TokenRefreshCoordinator(store: store, handler: RESTTokenRefreshHandler(network: api))  // or yours
let network = api.authenticated(by: session)  // sends tokens to the origin of that URL, and to no other
for try await article in ArticleService(network: network).all() { print(article.title) }

import AuthInterface

struct PartnerRefresh: TokenRefreshHandler {
    let network: any UnauthenticatedNetworkService  // adds no tokens, so a refresh cannot wait for itself

    func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
        let call = Endpoint<PartnerTokens>.post("renew", json: ["token": request.refreshToken])
            .allowingLateResponse()  // a late response has the only valid token: wait 120 seconds for it
            .idempotencyKey(request.idempotencyKey, in: "Idempotency-Key")
        do {
            let tokens = try await network.send(call)
            return TokenRefreshResult(
                accessToken: tokens.access, refreshToken: tokens.refresh, expiresIn: .seconds(tokens.seconds))
        } catch let error as NetworkError {
            let isRejected = error.serverError?.code == "token_revoked"  // only a rejection ends the session
            throw TokenRefreshError(isRejected ? .rejected : .unavailable, error)
        }
    }
}

nonisolated struct PartnerTokens: Decodable {
    let access, refresh: String
    let seconds: Int
}

let partner = TokenRefreshCoordinator(
    store: FileTokenStore(application: "partner"), handler: PartnerRefresh(network: api))

import OAuth2Flows

let tokenEndpoint = URL(string: "https://id.example.com/oauth2/token")!
let oauth2 = OAuth2TokenRefreshHandler(
    tokenEndpoint: tokenEndpoint, client: .basic(id: "articles", secret: "of the client"), network: api)

let login = AuthService(unauthenticated: api, network: network, session: session)
let photo = try Data(contentsOf: URL(fileURLWithPath: "ada.jpg"))  // a JPEG of at most 5 MB: Imaging makes one
let guest = try await login.registerGuest(name: "Ada", photo: photo)
let user = try await login.socialLogin(.apple, token: "from the identity provider")

// After any other login call, give the session what the server issued:
try await partner.signIn(TokenRefreshResult(accessToken: "a", refreshToken: "r", expiresIn: .seconds(900)))

func watch(_ session: some AuthSession) async {
    for await state in session.states {
        switch state {
        case .unknown: print("starting")
        case .signedIn: print("signed in")
        case .signedOut(.expired(let ending)): print("sign in again: \(ending)")  // status, code, request id, process
        case .signedOut: print("signed out")
        }
    }
}

nonisolated struct Comment: Codable, Identifiable {
    let id: Int
    let text: String
}

extension Endpoint where Response == [Comment] {
    static func comments(on article: Int) -> Self { .get("articles/\(article)/comments", query: ["limit": 20]) }
}

extension Endpoint where Response == Comment {
    static func comment(_ text: String, on article: Int) -> Self {
        .post("articles/\(article)/comments", json: ["text": text])
    }
}

let comments = try await network.send(.comments(on: 7))
let comment = try await network.send(.comment("Well written", on: 7))

struct AppVersion: RequestInterceptor {
    func adapt(_ request: HTTPRequestHead, context: RequestContext) async throws -> HTTPRequestHead {
        try request.setting("X-App-Version", to: "1.0")
    }
}

let retrying = NetworkClient(
    baseURL: api.configuration.baseURL, transport: AsyncHTTPClientTransport(),
    interceptors: [AppVersion(), RetryPolicy.standard])

import NetworkTransfers

var form = MultipartForm()
form.append("name", "Ada")
form.append("image", file: URL(fileURLWithPath: "ada.jpg"), contentType: "image/jpeg")
let registered: SignedIn = try await api.send(.post("auth/guest/register", body: .multipart(form))) { progress in
    print("\(progress.completed) of \(progress.total ?? 0) bytes")
}
let file = URL(fileURLWithPath: "report.pdf")
_ = try await network.download("reports/7", to: file)  // again after an interruption: continues where it ended
for try await event in network.events("articles/events") { print(event.data) }  // over lost connections
for try await comment in network.lines("comments/export", of: Comment.self) { print(comment.text) }  // JSON lines

var fields = AuthenticationPolicy(placement: .fields(accessToken: "X-Access-Token", refreshToken: "X-Refresh-Token"))
fields.expiredStatuses = [401, 419]
let partnerNetwork = api.authenticated(by: partner, policy: fields)

do {
    try await ArticleService(network: network).delete(7)
} catch let error as NetworkError {
    switch error.code {
    case .notSignedIn, .sessionEnded: print("sign in first")
    case .unacceptableStatus where error.status == 404: print("there is no such article")
    case .connectionFailed, .timedOut: print("try again later")
    default: print(error)  // for developers: code, request, status, cause; never a token
    }
}

let github = URL(string: "https://api.github.com")!
let plain = NetworkClient(baseURL: github, transport: AsyncHTTPClientTransport())

nonisolated struct Repository: Decodable {
    let description: String?
}

let repository: Repository = try await plain.send(.get("repos/swiftlang/swift"))

func data<Value>(
    with session: some TokenProvider, _ send: (_ token: String) async throws -> (Value, status: Int)
) async throws -> Value {
    let token = try await session.token()  // refreshes first if the token has expired
    let (value, status) = try await send(token.value)
    guard status == 401 else { return value }
    let fresh = try await session.replacement(for: token)  // one refresh, however many requests are refused
    return try await send(fresh.value).0
}

try await session.signOut()  // forgets the tokens, then revokes them if the handler can
