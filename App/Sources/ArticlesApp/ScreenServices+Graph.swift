package import ArticlesUI
import AuthInterface
package import Composition
import DataAPI
import Foundation
import Imaging
import NetworkCore

extension ScreenServices {
    /// The services of the screens over the application's object graph.
    package init(_ graph: AppGraph, identity: any IdentityTokenSource) {
        let services = GraphServices(graph: graph)
        self.init(
            session: services, account: services, logins: services, identity: identity, photos: services,
            articles: services)
    }
}

/// The parts of the object graph, whose errors are those of screens.
private struct GraphServices {
    let graph: AppGraph
}

extension GraphServices: SessionControl, AccountReading {
    var state: SessionState { graph.session.state }
    var states: AsyncStream<SessionState> { graph.session.states }

    func signOut() async throws {
        try await translatingErrors { try await graph.auth.logout() }
    }

    func launch() async throws -> AutoLogin {
        try await translatingErrors {
            let outcome = try await graph.auth.autoLogin()
            guard case .undetermined(let error) = outcome else { return outcome }
            return .undetermined(ScreenError(translating: error))
        }
    }

    func me() async throws -> User {
        try await translatingErrors { try await graph.auth.me() }
    }

    func photo(of user: User) async throws -> Data? {
        // The session's token is for its own server.
        guard let url = user.profileURL, Origin(url) == Origin(graph.configuration.baseURL) else { return nil }
        return try await translatingErrors {
            try await graph.network.send(Endpoint<HTTPResponse>.request(.get, .url(url))).body
        }
    }
}

extension GraphServices: SigningIn, PhotoPreparing {
    func registerGuest(
        name: String, photo: Data, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> User? {
        try await translatingErrors {
            try await graph.auth.registerGuest(name: name, photo: photo) { transfer in
                if let part = transfer.fraction { progress(part) }
            }
        }
    }

    func signIn(_ provider: SocialProvider, token: String) async throws -> User? {
        try await translatingErrors { try await graph.auth.socialLogin(provider, token: token) }
    }

    func upgrade(_ provider: SocialProvider, token: String) async throws -> User {
        try await translatingErrors { try await graph.auth.upgradeGuest(provider, token: token) }
    }

    func prepare(_ photo: Data) async throws -> Data {
        try await translatingErrors { try await Self.fit(photo) }
    }

    /// Off the main actor: it takes tens of milliseconds.
    @concurrent private static func fit(_ photo: Data) async throws -> Data {
        try AppGraph.photoFitter().fit(photo).jpeg
    }
}

extension GraphServices: ArticleAccess {
    func page(after cursor: Article.Cursor?, limit: Int) async throws -> Page<Article> {
        try await translatingErrors { try await graph.articles.page(after: cursor, limit: limit) }
    }

    func storedPage(of session: SessionID, limit: Int) async -> [Article] {
        (try? await graph.storedArticles(of: session)?.page(limit: limit).items) ?? []
    }

    func article(_ id: Article.ID) async throws -> Article {
        try await translatingErrors { try await graph.articles.article(id) }
    }

    func create(_ draft: ArticleDraft, key: String) async throws -> Article {
        try await translatingErrors { try await graph.network.send(.create(draft).idempotent(key: key)) }
    }
}

/// Performs a call, and throws its error as the screens know it.
private func translatingErrors<Value>(_ call: () async throws -> Value) async throws -> Value {
    do {
        return try await call()
    } catch let error as CancellationError {
        throw error
    } catch {
        throw ScreenError(translating: error)
    }
}

extension ScreenError {
    /// The error of a screen for an error of the network, the session, the store or a photo.
    package init(translating error: any Error) {
        switch error {
        case let error as NetworkError:
            let text = error.errorDescription
            // The other texts of the error are English: the screens have their own.
            let message = text == error.serverError?.message ? text : nil
            self.init(error.code.rawValue, status: error.status, requestID: error.requestID, detail: message)
        case let error as AuthenticationError:
            self.init(error.code.rawValue)
        case is TokenStoreError:
            self.init("storeUnavailable")
        case let error as ImagingError:
            self.init(Self.code(of: error), detail: error.errorDescription)
        default:
            self.init(error)
        }
    }

    /// Responses and photos both have `decodingFailed`.
    private static func code(of error: ImagingError) -> String {
        switch error.code {
        case .decodingFailed: "imageDecodingFailed"
        case .encodingFailed: "imageEncodingFailed"
        default: error.code.rawValue
        }
    }
}
