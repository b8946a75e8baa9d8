public import AuthInterface
public import ConcurrencyPrimitives
import Foundation
public import NetworkCore

extension ResponseCache {
    /// Creates a client of what the cache keeps for a session, for a start without a network. It sends nothing.
    ///
    /// ```swift
    /// if case .signedIn(let id) = session.state {
    ///     let kept = cache.network(of: id, configuration: NetworkConfiguration(baseURL: url))
    ///     show(try? await kept.send(Endpoint<Data>.get("articles")))
    /// }
    /// ```
    ///
    /// It asks for no token, so a session whose token has expired is served too, and none is refreshed. It serves what
    /// is stale, of any age, unless the server has forbidden it (`no-cache`, `must-revalidate`). A request for which
    /// nothing is kept fails with the status 504, as does one that is not a `GET`.
    ///
    /// - Parameters:
    ///   - session: The session that is signed in.
    ///   - configuration: That of the client whose responses the cache keeps.
    ///   - policy: That of the same client.
    ///   - interceptors: Those of the same client that set fields by which responses are selected (`Vary`), or
    ///     credentials. One that retries only costs time.
    ///   - clock: That of the same client.
    /// - Returns: The client.
    public func network(
        of session: SessionID,
        configuration: NetworkConfiguration,
        policy: AuthenticationPolicy = AuthenticationPolicy(),
        interceptors: [any RequestInterceptor] = [],
        clock: any TimeSource = SystemTimeSource()
    ) -> AuthenticatedNetworkClient {
        NetworkClient(
            configuration: configuration, transport: KeptResponses(cache: self), interceptors: interceptors,
            clock: clock
        )
        .authenticated(by: UnsentToken(session: session), policy: policy)
    }
}

/// Serves what a cache keeps, fresh or stale.
private struct KeptResponses: HTTPTransport {
    private static let anyAge = CacheControl(["Cache-Control": "max-stale"])

    let cache: ResponseCache

    func perform(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        let key = CachedResponse.Key(of: request, hash: cache.hash)
        guard request.isCacheable, let kept = cache.response(for: key, to: request) else {
            return .gatewayTimeout(request)
        }
        let freshness = Freshness(of: kept, now: request.context.clock.date, uptime: request.context.clock.uptime)
        return freshness.serves(Self.anyAge)
            ? kept.served(to: request, age: freshness.age) : .gatewayTimeout(request)
    }
}

/// Names the session of requests that are not sent. A cache compares the session in place of the token's text, which
/// must not be in another field: it is random.
private struct UnsentToken: TokenProvider {
    let session: SessionID
    private let text = UUID().uuidString

    func token() async throws -> SessionToken {
        SessionToken(value: text, refreshToken: text, session: session, generation: 0)
    }

    func replacement(after refusal: TokenRefusal) async throws -> SessionToken {
        throw AuthenticationError(.unauthorized)
    }
}
