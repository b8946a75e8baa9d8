import AuthInterface
public import Hummingbird
public import NetworkCore
public import TokenRefresh

/// For a Hummingbird service that calls another API for its users. Copy all of it, and write your calls in place of the
/// notes.
///
/// One engine for each account, in a `SessionRegistry`: requests of one user cause one refresh, and users never wait
/// for each other. The sign-in of an account at the other API ends with `sessions[account].signIn(tokens)`. Before the
/// program exits, call `sessions.settle(within:)`: `ServerWorker` shows it.
public struct NotesService: Sendable {
    /// One engine for each account.
    public let sessions: SessionRegistry<String>

    private let api: NetworkClient
    private let account: @Sendable (Request) async throws -> String

    /// - Parameters:
    ///   - api: The client of the other API, without tokens.
    ///   - sessions: Makes the engine of an account over its own store, such as `database.store(for: account)`.
    ///   - account: Who sends a request, by the sessions of your own service; never what the request claims.
    public init(
        api: NetworkClient, sessions: SessionRegistry<String>,
        account: @escaping @Sendable (Request) async throws -> String
    ) {
        (self.api, self.sessions, self.account) = (api, sessions, account)
    }

    /// The routes of the service.
    public func router() -> Router<BasicRequestContext> {
        let router = Router()
        router.get("notes") { request, _ in
            // A value that costs nothing to make. Its connections are those of `api`.
            let network = api.authenticated(by: sessions[try await account(request)])
            return try await forwardingFailures { try await network.send(Endpoint<[Note]>.get("notes")) }
        }
        router.delete("connection") { request, _ in
            let account = try await account(request)
            try await sessions[account].signOut()  // forgets the tokens, then revokes them if the handler can
            sessions.release(account)
            return HTTPResponse.Status.noContent
        }
        return router
    }

    /// What a failure of the other API means for the caller of this one.
    private func forwardingFailures<Value>(_ call: () async throws -> Value) async throws -> Value {
        do {
            return try await call()
        } catch let error as NetworkError {
            switch error.code {
            case .notSignedIn, .sessionEnded, .noRefreshToken:
                throw HTTPError(.forbidden, message: "Connect your account again.")
            case .refreshUnavailable, .storeUnavailable:
                let seconds = error.retryAfter.map { max($0.components.seconds, 1) } ?? 5
                throw HTTPError(.serviceUnavailable, headers: [.retryAfter: "\(seconds)"], message: "Try again later.")
            default:
                throw HTTPError(.badGateway)
            }
        }
    }
}

/// A note of the other API, passed on.
struct Note: ResponseCodable, Sendable {
    let id: Int
    let text: String
}
