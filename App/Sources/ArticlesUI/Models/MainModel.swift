package import AuthInterface
package import DataAPI
package import Foundation
import Observation

/// The screens of one session. Another session has another model, so no screen of one user shows data of another.
@Observable
@MainActor
package final class MainModel {
    /// A screen above the list.
    package enum Route: Sendable, Hashable {
        case article(Article.ID)
        case compose
        case account
    }

    package let session: SessionID

    /// The user; `nil` while it is not known.
    package private(set) var user: User?

    /// The photo of the user, once the screen of the account was loaded; `nil` without one.
    package private(set) var photo: Data?

    /// The screens above the list, the top one last.
    package var path: [Route] = []

    package let list: ArticleListModel
    package let compose: ComposeModel
    package let upgrade: ProviderLoginModel

    @ObservationIgnored private var articles: [Article.ID: ArticleModel] = [:]
    @ObservationIgnored private var isClosed = false
    private let services: ScreenServices
    private let sessionMayHaveEnded: () -> Void

    // Neither a user nor a session that was restored says who is a guest: without `usesProvider` it is not known.
    init(
        session: SessionID, user: User?, usesProvider: Bool, banner: ScreenError?, services: ScreenServices,
        sessionMayHaveEnded: @escaping () -> Void
    ) {
        self.session = session
        self.user = user
        self.services = services
        self.sessionMayHaveEnded = sessionMayHaveEnded
        list = ArticleListModel(
            session: session, banner: banner, services: services, sessionMayHaveEnded: sessionMayHaveEnded)
        let published = Published()
        compose = ComposeModel(articles: services.articles, sessionMayHaveEnded: sessionMayHaveEnded) {
            published.main?.show($0)
        }
        upgrade = ProviderLoginModel(isOffered: !usesProvider, identity: services.identity) {
            try await services.logins.upgrade($0, token: $1)
        } finish: { result in
            switch result {
            case .success(let user): published.main?.user = user
            case .failure(let error): if error.mayEndSession { sessionMayHaveEnded() }
            case nil: break
            }
        }
        published.main = self
    }

    private final class Published {
        weak var main: MainModel?
    }

    /// The model of an article's screen. Those of screens that are gone are released.
    package func article(_ id: Article.ID) -> ArticleModel {
        if let model = articles[id] { return model }
        articles = articles.filter { path.contains(.article($0.key)) }
        let known = list.articles.first { $0.id == id }
        let model = ArticleModel(
            id: id, known: known, articles: services.articles, sessionMayHaveEnded: sessionMayHaveEnded)
        // A closed session loads nothing: the model is empty and stays so.
        if isClosed { model.close() } else { articles[id] = model }
        return model
    }

    package func load() async {
        await list.load()
        guard !isClosed, user == nil, list.phase == .loaded else { return }
        await loadUser()
    }

    /// Loads what the screen of the account shows and is not known: the user, and the photo. Without them the screen
    /// has less to show, and no error.
    package func loadAccount() async {
        if user == nil { await loadUser() }
        guard !isClosed, photo == nil, let user else { return }
        let photo = try? await services.account.photo(of: user)
        if !isClosed { self.photo = photo }
    }

    private func loadUser() async {
        let user = try? await services.account.me()
        if !isClosed, self.user == nil { self.user = user }
    }

    /// What a later session of the same user continues with. `nil`: the user is not known.
    var place: Place? {
        user.map { Place(user: $0.id, path: path, compose: compose.place) }
    }

    struct Place {
        let user: User.ID
        fileprivate let path: [Route]
        fileprivate let compose: ComposeModel.Place
    }

    func restore(_ place: Place) {
        path = place.path
        compose.restore(place.compose)
    }

    func close() {
        isClosed = true
        path = []
        user = nil
        photo = nil
        list.close()
        compose.close()
        upgrade.close()
        for model in articles.values { model.close() }
        articles = [:]
    }

    private func show(_ article: Article) {
        list.insert(article)
        if path.last == .compose { path.removeLast() }
    }
}
