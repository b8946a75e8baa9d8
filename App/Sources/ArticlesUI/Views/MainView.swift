#if canImport(SwiftUI)
import DataAPI
import SwiftUI

/// The screens of a session: the list, and above it articles and the editor.
struct MainView: View {
    @Bindable var main: MainModel
    let app: AppModel
    @Environment(\.strings) private var strings

    var body: some View {
        NavigationStack(path: $main.path) {
            ArticleListView(list: main.list)
                .task { await main.load() }
                .navigationTitle(strings(.articles))
                .navigationDestination(for: MainModel.Route.self) { route in
                    switch route {
                    case .article(let id): ArticleView(model: main.article(id))
                    case .compose: ComposeView(compose: main.compose)
                    case .account: AccountView(main: main)
                    }
                }
                .toolbar {
                    ToolbarItem(placement: .primaryAction) {
                        NavigationLink(value: MainModel.Route.compose) {
                            Label(strings(.newArticle), systemImage: "square.and.pencil")
                        }
                    }
                    ToolbarItem {
                        NavigationLink(value: MainModel.Route.account) {
                            Label(strings(.account), systemImage: "person.crop.circle")
                        }
                    }
                    ToolbarItem(placement: .cancellationAction) {
                        Button(strings(.signOut)) { Task { await app.signOut() } }
                    }
                }
        }
    }
}

struct ArticleListView: View {
    let list: ArticleListModel
    @Environment(\.strings) private var strings

    var body: some View {
        List {
            if let banner = list.banner { BannerView(error: banner) }
            ForEach(list.articles) { article in
                NavigationLink(value: MainModel.Route.article(article.id)) { ArticleRow(article: article) }
            }
            if !list.articles.isEmpty { footer }
        }
        .overlay { placeholder }
        .refreshable { await list.refresh() }
    }

    @ViewBuilder private var placeholder: some View {
        if list.articles.isEmpty {
            switch list.phase {
            case .loading: ProgressView(strings(.loading))
            case .failed(let error): ErrorView(title: nil, error: error) { Task { await list.load() } }
            case .loaded: Text(strings(.noArticles)).foregroundStyle(.secondary)
            case .idle: Button(strings(.load)) { Task { await list.load() } }
            }
        }
    }

    @ViewBuilder private var footer: some View {
        if let error = list.moreError {
            ErrorText(error: error)
            Button(strings(.retry)) { Task { await list.loadMore() } }
        } else if list.hasMore {
            ProgressView(strings(.loadingMore))
                .frame(maxWidth: .infinity)
                .task(id: list.revision) { await list.loadMore() }
        } else if list.phase == .loaded {
            Text(strings(.endOfList)).font(.footnote).foregroundStyle(.secondary)
        }
    }
}

private struct ArticleRow: View {
    let article: Article
    @Environment(\.strings) private var strings

    var body: some View {
        VStack(alignment: .leading, spacing: 4) {
            Text(article.title).font(.headline)
            if let author = article.author {
                Text(strings(.byAuthor, ["author": author.name]))
                    .font(.subheadline)
                    .foregroundStyle(.secondary)
            }
        }
        .accessibilityElement(children: .combine)
    }
}

/// Says that the articles are those of this device, and why.
private struct BannerView: View {
    let error: ScreenError
    @Environment(\.strings) private var strings

    var body: some View {
        VStack(alignment: .leading, spacing: 4) {
            Label(strings(.showsStored), systemImage: "wifi.slash").font(.headline)
            Text(strings.message(for: error)).font(.subheadline)
        }
        .accessibilityElement(children: .combine)
    }
}
#endif
