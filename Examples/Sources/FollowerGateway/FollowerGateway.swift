public import Hummingbird
public import NetworkCore
public import TokenRefresh

/// For a gateway, a sidecar or a container that uses a session and must not be able to refresh it. Copy all of it, and
/// write your routes in place of the notes.
///
/// It reads the access token that the owner of the session publishes, and places it in the requests of programs that
/// have no token. There is no refresh token in this process: what breaks into it gets a token that expires soon.
///
/// ```swift
/// // The owner: FollowedTokenStore(store, publishing: FileTokenStore(folder: folder, access: .readableByGroup))
/// let file = FileTokenStore(folder: folder, access: .readableByGroup)
/// let gateway = FollowerGateway(api: api, session: SessionFollower(file))
/// ```
public struct FollowerGateway: Sendable {
    private let network: any NetworkService

    /// - Parameters:
    ///   - api: The client of the API, without tokens.
    ///   - session: The session that another process owns.
    public init(api: NetworkClient, session: SessionFollower) { network = api.authenticated(by: session) }

    /// The routes of the gateway.
    public func router() -> Router<BasicRequestContext> {
        let router = Router()
        router.get("notes") { _, _ in
            do {
                return try await network.send(Endpoint<[Note]>.get("notes"))
            } catch let error as NetworkError {
                throw failure(error)
            }
        }
        return router
    }

    /// The session has ended only if its owner has ended it. In every other case the caller tries again.
    private func failure(_ error: NetworkError) -> HTTPError {
        switch error.code {
        case .notSignedIn, .sessionEnded:
            HTTPError(.forbidden, message: "The session has ended.")
        case .refreshUnavailable, .storeUnavailable:
            HTTPError(.serviceUnavailable, headers: [.retryAfter: "5"], message: "Wait for the owner's next token.")
        default:
            HTTPError(.badGateway)
        }
    }
}

/// A note of the API, passed on.
struct Note: ResponseCodable, Sendable {
    let id: Int
    let text: String
}
