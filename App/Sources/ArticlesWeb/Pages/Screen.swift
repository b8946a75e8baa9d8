import ArticlesUI
import DataAPI
import Foundation

/// What a page shows between the header and the end.
@MainActor
struct Screen {
    let template: String
    let title: String
    /// The members that the template names.
    let members: [String: Any]
    /// Whether something is under way: a page without a script then loads itself again.
    let isBusy: Bool

    init(_ app: AppModel, _ strings: Strings) {
        switch app.root {
        case .splash(let splash): self = .launch(splash, strings)
        case .signIn(let login): self = .signIn(login, app.alert, strings)
        case .main(let main):
            switch main.path.last {
            case .article(let id): self = .article(main.article(id), strings)
            case .compose: self = .compose(main.compose, strings)
            case .account: self = .account(main, strings)
            case nil: self = .articles(main.list, strings)
            }
        }
    }

    private init(_ template: String, _ title: String, isBusy: Bool, _ members: [String: Any?]) {
        self.template = template
        self.title = title
        self.isBusy = isBusy
        self.members = members.compactMapValues { $0 }
    }

    /// The page of a request that failed. Only a form of an earlier page or session is forbidden to this browser.
    static func error(_ status: Int, _ strings: Strings) -> Screen {
        let phrases: (title: Phrase, text: Phrase) =
            switch status {
            case 403: (.formExpired, .formExpiredHint)
            case 404: (.pageMissing, .pageMissingHint)
            default: (.pageFailed, .errorUnknown)
            }
        let title = strings(phrases.title)
        return Screen("problem", title, isBusy: false, ["title": title, "text": strings(phrases.text)])
    }

    private static func launch(_ splash: SplashModel, _ strings: Strings) -> Screen {
        Screen(
            "launch", strings(.launching), isBusy: splash.phase.error == nil,
            ["error": splash.phase.error.map(strings.message)])
    }

    private static func signIn(_ login: SignInModel, _ alert: SessionEndAlert?, _ strings: Strings) -> Screen {
        let (guest, social) = (login.guest, login.social)
        let (isPreparing, isUploading) = (guest.photo == .preparing, guest.phase == .loading)
        let part = guest.uploaded ?? 0
        return Screen(
            "sign-in", strings(.signIn), isBusy: isUploading || isPreparing || social.provider != nil,
            [
                "alert": alert.map {
                    ["text": strings.message(for: $0), "details": strings.details(of: $0.reason) ?? ""]
                },
                "notice": alert == nil ? strings.explanation(of: login.reason) : nil,
                "signOutError": login.signOutError.map(strings.message),
                "name": guest.name,
                "isPreparing": isPreparing,
                "photo": guest.photo.prepared.map { picture($0, at: "/sign-in/photo") },
                "photoError": guest.photo.error.map(strings.message),
                "guestError": guest.phase.error.map(strings.message),
                "upload": isUploading ? ["percent": "\(Int(part * 100))", "text": strings.percentage(part)] : nil,
                "social": providers(social, strings, at: "/sign-in/social", cancelledAt: "/sign-in/cancel"),
            ])
    }

    private static func account(_ main: MainModel, _ strings: Strings) -> Screen {
        let photo = main.photo.map { picture($0, at: "/account/photo") }
        return Screen(
            "account", strings(.account), isBusy: main.upgrade.provider != nil,
            [
                "person": main.user.map { ["name": $0.name, "photo": photo].compactMapValues(\.self) },
                "isKept": main.upgrade.phase == .loaded,
                "isOffered": main.upgrade.phase != .loaded && !main.upgrade.providers.isEmpty,
                "upgrade": providers(main.upgrade, strings, at: "/account/upgrade", cancelledAt: "/account/cancel"),
            ])
    }

    /// A hash of the content makes the browser load another picture.
    private static func picture(_ data: Data, at path: String) -> String {
        "\(path)?v=\(UInt(bitPattern: data.hashValue))"
    }

    private static func providers(
        _ login: ProviderLoginModel, _ strings: Strings, at path: String, cancelledAt cancelPath: String
    ) -> [String: Any] {
        let members: [String: Any?] = [
            "path": path, "cancelPath": cancelPath, "isSigningIn": login.provider != nil,
            "error": login.phase.error.map(strings.message),
            "providers": login.providers.map { ["name": $0.rawValue, "label": strings.label(for: $0)] },
        ]
        return members.compactMapValues { $0 }
    }

    private static func articles(_ list: ArticleListModel, _ strings: Strings) -> Screen {
        let isFilled = !list.articles.isEmpty
        let error = isFilled ? nil : list.phase.error.map(strings.message)
        let isIdle = list.phase == .idle && !isFilled
        let rows = list.articles.map { article in
            facts(of: article, strings).merging([
                "path": Location.article(article.id).path, "title": article.title,
            ]) { $1 }
        }
        return Screen(
            "articles", strings(.articles), isBusy: list.phase == .loading || list.isLoadingMore,
            [
                "banner": list.banner.map(strings.message), "rows": rows, "isFilled": isFilled,
                "isLoading": list.phase == .loading, "isEmpty": list.isEmpty, "error": error,
                "loadText": error != nil ? strings(.retry) : isIdle ? strings(.load) : nil,
                "hasMore": isFilled && list.hasMore, "isLoadingMore": list.isLoadingMore,
                "moreText": strings(list.isLoadingMore ? .loadingMore : list.moreError == nil ? .loadMore : .retry),
                "moreError": list.moreError.map(strings.message),
                "isComplete": isFilled && !list.hasMore && list.phase == .loaded,
            ])
    }

    private static func article(_ model: ArticleModel, _ strings: Strings) -> Screen {
        let isMissing = model.phase.error?.isMissing == true
        let article = model.article.map { article in
            facts(of: article, strings).merging([
                "title": article.title, "paragraphs": article.content.split(separator: /\n\s*\n/).map(String.init),
            ]) { $1 }
        }
        return Screen(
            "article", model.article?.title ?? strings(isMissing ? .articleMissing : .articles),
            isBusy: model.phase == .loading,
            [
                "article": article, "isLoading": model.phase == .loading, "isLoaded": model.phase == .loaded,
                "isMissing": isMissing, "error": isMissing ? nil : model.phase.error.map(strings.message),
                "refreshPath": "\(Location.article(model.id).path)/refresh",
            ])
    }

    /// The author and the date of an article: for people, and for programs.
    private static func facts(of article: Article, _ strings: Strings) -> [String: Any] {
        let style = Date.FormatStyle(date: .long, time: .omitted)
            .locale(Locale(identifier: strings.language.rawValue))
        let members: [String: Any?] = [
            "author": article.author.map { strings(.byAuthor, ["author": $0.name]) },
            "date": article.createdAt.map { ["text": $0.formatted(style), "machine": $0.formatted(.iso8601)] },
        ]
        return members.compactMapValues { $0 }
    }

    private static func compose(_ compose: ComposeModel, _ strings: Strings) -> Screen {
        Screen(
            "compose", strings(.newArticle), isBusy: compose.phase == .loading,
            [
                "form": compose.form, "title": compose.draft.title, "text": compose.draft.content,
                "isPublishing": compose.phase == .loading, "error": compose.phase.error.map(strings.message),
            ])
    }
}

extension GuestLoginModel.Photo {
    var prepared: Data? { if case .ready(let data) = self { data } else { nil } }

    var error: ScreenError? { if case .failed(let error) = self { error } else { nil } }
}
