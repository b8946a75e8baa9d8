import AuthInterface
import DataAPI
import Foundation
import NetworkCore
import NetworkURLSession

// The samples of the articles of `NetworkCore`: *Define an endpoint*, *Intercept requests*, *Errors, and what to show
// the user*.

nonisolated struct Comment: Codable, Identifiable {
    let id: Int
    let text: String
}

extension Endpoint where Response == [Comment] {
    static func comments(on article: Int) -> Self { .get("articles/\(article)/comments", query: ["limit": 20]) }
}

extension Endpoint where Response == Comment {
    static func comment(_ text: String, on article: Int) -> Self {
        .post("articles/\(article)/comments", json: ["text": text]).idempotent()
    }
}

extension Endpoint where Response == Void {
    static func remove(_ comment: Int) -> Self { .delete("comments/\(comment)").accepting(.success, .notFound) }
    static func reset(_ code: String) -> Self { .post("reset/\(secret: code)").withoutAuthentication() }
}

private func calls(url: URL, network: any NetworkService, session: any TokenProvider) async throws {
    let comments = try await network.send(.comments(on: 7))
    let comment = try await network.send(.comment("Well written", on: 7), deadline: .seconds(10))
    try await network.send(.remove(comment.id))

    let transport = URLSessionTransport()
    let plain = NetworkClient(baseURL: url, transport: transport)  // JSON
    let wrapped = NetworkClient(baseURL: url, transport: transport, format: .envelope)  // {"success": true, "data": …}

    let retrying = NetworkClient(
        baseURL: url, transport: transport, interceptors: [AppVersion(), RetryPolicy.standard])

    var policy = AuthenticationPolicy(
        placement: .fields(accessToken: "X-Access-Token", refreshToken: "X-Refresh-Token"))
    policy.expiredStatuses = [401, 419]
    let authenticated = retrying.authenticated(by: session, policy: policy)
    _ = (comments, plain, wrapped, authenticated)
}

struct AppVersion: RequestInterceptor {
    func adapt(_ request: HTTPRequestHead, context: RequestContext) async throws -> HTTPRequestHead {
        try request.setting("X-App-Version", to: "1.0")
    }
}

struct RetryWhileLocked: RequestInterceptor {
    func retry(_ failure: NetworkError, context: RequestContext) async throws -> RetryDecision {
        guard failure.status == 423, context.isIdempotent, context.retries < 2 else { return .doNotRetry }
        return .retry(after: failure.retryAfter ?? .seconds(1))
    }
}

nonisolated struct Problem: Decodable {
    let title: String
}

enum Shown: Equatable {
    case nothing
    case missing
    case alert(String, advice: String?)
}

func remove(_ comment: Int, over network: any NetworkService) async -> Shown {
    do {
        try await network.send(.remove(comment))
        return .nothing
    } catch is CancellationError {
        return .nothing  // the user has left the screen
    } catch let error as NetworkError {
        switch error.code {
        case .notSignedIn, .sessionEnded: return .nothing  // the state of the session shows the login
        case .unacceptableStatus where error.status == 410: return .missing
        default: return .alert(error.localizedDescription, advice: error.recoverySuggestion)
        }
    } catch {
        return .alert(error.localizedDescription, advice: nil)
    }
}

func title(of error: NetworkError) -> String? { (try? error.decode(Problem.self))?.title }
