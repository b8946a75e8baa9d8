import ArticlesUI
import DataAPI
import Foundation

extension Screen {
    /// A date for people and for programs.
    private struct Day {
        let text: String
        let machine: String

        init?(_ date: Date?, _ language: Language) {
            guard let date else { return nil }
            let style = Date.FormatStyle(date: .long, time: .omitted)
            text = date.formatted(style.locale(Locale(identifier: language.rawValue)))
            machine = date.formatted(.iso8601)
        }
    }

    private struct List {
        struct Row {
            let path: String
            let title: String
            let author: String?
            let date: Day?
        }

        let banner: String?
        let rows: [Row]
        let isFilled: Bool
        let isLoading: Bool
        let isEmpty: Bool
        let isIdle: Bool
        let error: String?
        let hasMore: Bool
        let isLoadingMore: Bool
        let moreText: String
        let moreError: String?
        let isComplete: Bool
    }

    /// The list of articles.
    @MainActor
    static func articles(_ list: ArticleListModel, _ strings: Strings) -> Screen {
        let isFilled = !list.articles.isEmpty
        let rows = list.articles.map { article in
            List.Row(
                path: Location.article(article.id).path, title: article.title,
                author: article.author.map { strings(.byAuthor, ["author": $0.name]) },
                date: Day(article.createdAt, strings.language))
        }
        let content = List(
            banner: list.banner.map(strings.message), rows: rows, isFilled: isFilled,
            isLoading: list.phase == .loading, isEmpty: list.isEmpty, isIdle: list.phase == .idle && !isFilled,
            error: isFilled ? nil : list.phase.error.map(strings.message),
            hasMore: isFilled && list.hasMore, isLoadingMore: list.isLoadingMore,
            moreText: strings(list.isLoadingMore ? .loadingMore : list.moreError == nil ? .loadMore : .retry),
            moreError: list.moreError.map(strings.message),
            isComplete: isFilled && !list.hasMore && list.phase == .loaded)
        return Screen(
            template: "articles", regions: ["banner": "banner", "list": "list", "list-end": "list-end"],
            title: strings(.articles), content: content, isBusy: list.phase == .loading || list.isLoadingMore)
    }

    private struct Reading {
        struct Content {
            let title: String
            let author: String?
            let date: Day?
            let paragraphs: [String]
        }

        let article: Content?
        let isLoading: Bool
        let isLoaded: Bool
        let isMissing: Bool
        let error: String?
        let refreshPath: String
    }

    /// One article.
    @MainActor
    static func article(_ model: ArticleModel, _ strings: Strings) -> Screen {
        let article = model.article.map { article in
            Reading.Content(
                title: article.title, author: article.author.map { strings(.byAuthor, ["author": $0.name]) },
                date: Day(article.createdAt, strings.language),
                paragraphs: article.content.split(separator: /\n\s*\n/).map(String.init))
        }
        let content = Reading(
            article: article, isLoading: model.phase == .loading, isLoaded: model.phase == .loaded,
            isMissing: model.phase.error?.isMissing == true, error: model.phase.error.map(strings.message),
            refreshPath: "\(Location.article(model.id).path)/refresh")
        return Screen(
            template: "article", regions: ["article": "article-state"],
            title: article?.title ?? strings(content.isMissing ? .articleMissing : .articles), content: content,
            isBusy: content.isLoading)
    }

    private struct Composing {
        let form: String
        let title: String
        let text: String
        let isPublishing: Bool
        let error: String?
    }

    /// The editor of a new article.
    @MainActor
    static func compose(_ compose: ComposeModel, _ strings: Strings) -> Screen {
        let content = Composing(
            form: compose.form, title: compose.draft.title, text: compose.draft.content,
            isPublishing: compose.phase == .loading,
            error: compose.phase.error.map(strings.message))
        return Screen(
            template: "compose", regions: ["compose-error": "compose-error", "compose-state": "compose-state"],
            title: strings(.newArticle),
            content: content, isBusy: content.isPublishing)
    }
}
