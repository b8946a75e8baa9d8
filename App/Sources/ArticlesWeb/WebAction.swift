import ArticlesUI
import DataAPI
import Foundation

/// What the user does with a form.
@MainActor
struct WebAction {
    typealias Action = @Sendable @MainActor (WebAction) async -> Void

    let window: WebWindow
    let fields: FormFields
    let id: Article.ID

    /// The actions by path. One that the screen does not offer now does nothing.
    nonisolated static let all: [(path: String, action: Action)] = [
        ("/start/retry", { await $0.launchAgain() }),
        ("/alert/dismiss", { $0.window.app.dismissAlert() }),
        ("/sign-in/photo", { await $0.useGuestForm(submits: false) }),
        ("/sign-in/guest", { await $0.useGuestForm(submits: true) }),
        ("/sign-in/social", { await $0.signIn($0.login?.social) }),
        ("/sign-in/cancel", { $0.cancelLogin() }),
        ("/sign-out", { await $0.signOut() }),
        ("/articles/load", { await $0.withList { await $0.load() } }),
        ("/articles/refresh", { await $0.withList { await $0.refresh() } }),
        ("/articles/more", { await $0.withList { await $0.loadMore() } }),
        ("/articles/:id/refresh", { await $0.refreshArticle() }),
        ("/compose/draft", { $0.keepDraft() }),
        ("/compose/publish", { await $0.publish() }),
        ("/compose/cancel", { $0.main?.compose.cancel() }),
        ("/account/upgrade", { await $0.signIn($0.main?.upgrade) }),
        ("/account/cancel", { $0.main?.upgrade.cancel() }),
    ]

    private var login: SignInModel? { window.app.signIn }
    private var main: MainModel? { window.app.main }

    private func launchAgain() async {
        guard let splash = window.app.splash else { return }
        await window.perform { await splash.launch() }
    }

    /// Prepares the chosen photo, and signs in. Without a photo, that of before stays.
    private func useGuestForm(submits: Bool) async {
        guard let guest = login?.guest else { return }
        let submits = submits && !fields.isTooLarge
        if submits { guest.name = fields["name"] }
        await window.perform {
            if fields.isTooLarge {
                await guest.pick { throw ScreenError("sourceTooLarge") }
            } else if let photo = fields.files["photo"] {
                await guest.pick { photo }
            }
            if submits { await guest.submit() }
        }
    }

    private func signIn(_ login: ProviderLoginModel?) async {
        guard let login else { return }
        let provider = SocialProvider(rawValue: fields["provider"])
        guard login.providers.contains(provider) else { return }
        await window.perform { await login.signIn(with: provider) }
    }

    private func cancelLogin() {
        login?.guest.cancel()
        login?.social.cancel()
    }

    private func signOut() async {
        let app = window.app
        guard main != nil else { return }
        await window.perform { await app.signOut() }
    }

    private func withList(_ call: @escaping @MainActor (ArticleListModel) async -> Void) async {
        guard let list = main?.list else { return }
        await window.perform { await call(list) }
    }

    private func refreshArticle() async {
        guard let main, main.path.last == .article(id) else { return }
        let article = main.article(id)
        await window.perform { await article.refresh() }
    }

    private func keepDraft() {
        guard let compose = main?.compose, compose.phase != .loading, !fields.isTooLarge else { return }
        compose.draft = ArticleDraft(title: fields["title"], content: fields["text"])
    }

    private func publish() async {
        guard let compose = main?.compose else { return }
        keepDraft()
        // A form that is sent twice publishes once. A form without its identifier is not one of these pages.
        let form = UUID(uuidString: fields["draft"])?.uuidString
        await window.perform { await compose.submit(from: form) }
    }
}
