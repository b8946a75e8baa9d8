import AuthInterface
import AuthTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// The sample of the article *Writing a refresh handler*.

struct PartnerRefresh: TokenRefreshHandler {
    let endpoint: URL

    // The partner's server returns its first response again when it sees a key again.
    let replayTolerance = ReplayTolerance.sameKey

    func refresh(_ request: TokenRefreshRequest) async throws -> TokenRefreshResult {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 10
        // Its own, so the connection is new, and no redirect is followed.
        let session = URLSession(configuration: configuration, delegate: RedirectRefusal(), delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }

        var call = URLRequest(url: endpoint)
        call.httpMethod = "POST"
        call.setValue("application/json", forHTTPHeaderField: "Content-Type")
        call.setValue(request.idempotencyKey, forHTTPHeaderField: "Idempotency-Key")
        call.httpBody = try JSONEncoder().encode(["refresh": request.refreshToken])
        let (body, response) = try await session.data(for: call)  // what it throws counts as unavailable
        return try tokens(in: body, of: response as? HTTPURLResponse)
    }

    private func tokens(in body: Data, of response: HTTPURLResponse?) throws -> TokenRefreshResult {
        let status = response?.statusCode
        if status == 200, let pair = try? JSONDecoder().decode(Pair.self, from: body), pair.isUsable {
            return TokenRefreshResult(
                accessToken: pair.access, refreshToken: pair.refresh, expiresIn: pair.ttl.map { .seconds($0) })
        }
        let code = (try? JSONDecoder().decode(Failure.self, from: body))?.code
        if status == 400, code == "refresh_token_dead" {
            throw TokenRefreshError(.rejected, status: status, serverCode: code)
        }
        let isPage = body.first == UInt8(ascii: "<")
        let pause = response?.value(forHTTPHeaderField: "Retry-After").flatMap { Int($0) }
        throw TokenRefreshError(
            status == 401 && !isPage ? .ambiguous : .unavailable,
            retryAfter: pause.map { .seconds($0) },
            status: status
        )
    }

    // A redirect is the response: what its target responds with are not tokens of this user.
    private final class RedirectRefusal: NSObject, URLSessionTaskDelegate {
        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            completionHandler(nil)
        }
    }

    private struct Pair: Decodable {
        let access: String
        let refresh: String?
        let ttl: Int?

        // A new refresh token is kept even if the access token beside it is empty.
        var isUsable: Bool { !access.isEmpty || refresh != nil }
    }

    private struct Failure: Decodable {
        let code: String
    }
}

/// The handler of *Writing a refresh handler*, checked over real sockets.
@Suite(.timeLimit(.minutes(10)))
struct WrittenHandlerTests {
    @Test func `the handler of the article keeps the contract`() async throws {
        try await TokenRefreshHandlerContract.check(.partner) { url in PartnerRefresh(endpoint: url) }
    }
}

extension RefreshDialect {
    static let partner = RefreshDialect(
        refreshToken: { body in (try? JSONDecoder().decode([String: String].self, from: body))?["refresh"] },
        tokens: { ["access": $0.accessToken, "refresh": $0.refreshToken] },
        rejection: { _ in ["code": "refresh_token_dead"] },
        rejectionStatus: 400
    )
}
