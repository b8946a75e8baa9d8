import AuthInterface
import DataAPI
import Foundation
import NetworkCore
import OAuth2Flows
import Storage
import TokenRefresh

// The samples of README.md. What stands between the marks is on that page word for word: `ReadmeTests` compares them,
// and the compiler reads them here.

enum ReadmeSamples {
    static func eightLines(url: URL, show: (Article) -> Void) async throws {
        // sample: eight lines
        let open = NetworkClient(baseURL: url, transport: URLSessionTransport(), interceptors: [RetryPolicy.standard])
        let refresh = RESTTokenRefreshHandler(network: open)  // swap the refresh implementation here, and nowhere else
        let session = TokenRefreshCoordinator(store: FileTokenStore(application: "articles"), handler: refresh)
        let network = open.authenticated(by: session)  // tokens go only to url's origin
        let articles = ArticleService(network: network)
        for try await article in articles.all() {
            show(article)
        }
        // end
    }

    static func anotherHandler(open: NetworkClient, tokenEndpoint: URL, secret: String) -> any TokenRefreshHandler {
        // sample: another handler
        let client = OAuth2Client.basic(id: "articles", secret: secret)
        let refresh = OAuth2TokenRefreshHandler(tokenEndpoint: tokenEndpoint, client: client, network: open)
        // end
        return refresh
    }

    static func watch(
        session: TokenRefreshCoordinator,
        showSplash: () -> Void,
        showArticles: () -> Void,
        login: (_ message: String?) -> Void,
        log: (String) -> Void
    ) async {
        func showLogin(message: String?) { login(message) }
        // sample: watching
        for await state in session.states {
            switch state {
            case .unknown: showSplash()
            case .signedIn: showArticles()
            case .signedOut(.expired(let ending)):
                log("session ended: \(ending)")  // HTTP status, the server's code, request id, process; never a secret
                showLogin(message: "Please sign in again")
            case .signedOut: showLogin(message: nil)
            }
        }
        // end
    }

    static func ownClient(
        session: TokenRefreshCoordinator,
        request: String,
        send: (String, String) async throws -> Answer
    ) async throws -> Answer {
        // sample: the engine alone
        let token = try await session.token()  // refreshes first when it must
        var answer = try await send(request, token.value)
        if answer.isUnauthorized {
            let fresh = try await session.replacement(for: token)  // one refresh, however many are refused
            answer = try await send(request, fresh.value)
        }
        // end
        return answer
    }

    struct Answer {
        let isUnauthorized: Bool
    }
}

// sample: your own handler
struct PartnerRefresh: TokenRefreshHandler {
    let partner: Partner

    func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
        let pair = try await partner.renew(request.refreshToken)
        return TokenRefreshResult(accessToken: pair.access, refreshToken: pair.refresh, expiresIn: .seconds(pair.ttl))
    }
}
// end

/// A partner's client.
struct Partner: Sendable {
    let renew: @Sendable (_ refreshToken: String) async throws -> (access: String, refresh: String, ttl: Int)
}
