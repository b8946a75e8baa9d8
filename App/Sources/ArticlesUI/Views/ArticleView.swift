#if canImport(SwiftUI)
import DataAPI
import SwiftUI

struct ArticleView: View {
    let model: ArticleModel
    @Environment(\.strings) private var strings

    var body: some View {
        ScrollView {
            if let article = model.article {
                VStack(alignment: .leading, spacing: 12) {
                    Text(article.title).font(.title).accessibilityAddTraits(.isHeader)
                    if let author = article.author {
                        Text(strings(.byAuthor, ["author": author.name])).foregroundStyle(.secondary)
                    }
                    Text(article.content)
                    if let error = model.phase.error { ErrorText(error: error) }
                }
                .frame(maxWidth: .infinity, alignment: .leading)
                .padding()
            } else if let error = model.phase.error {
                ErrorView(title: nil, error: error) { Task { await model.load() } }
            } else {
                ProgressView(strings(.loading)).padding()
            }
        }
        .task { await model.load() }
        .refreshable { await model.refresh() }
    }
}

struct ComposeView: View {
    @Bindable var compose: ComposeModel
    @Environment(\.strings) private var strings

    var body: some View {
        Form {
            TextField(strings(.title), text: $compose.draft.title)
            TextField(strings(.text), text: $compose.draft.content, axis: .vertical)
                .lineLimit(6...)
            if let error = compose.phase.error {
                Section {
                    Text("\(strings(.publishFailed)) \(strings(.draftKept))")
                    ErrorText(error: error)
                }
            }
            if compose.phase == .loading {
                ProgressView(strings(.publishing))
                Button(strings(.cancel), role: .cancel) { compose.cancel() }
            }
        }
        .navigationTitle(strings(.newArticle))
        .toolbar {
            ToolbarItem(placement: .confirmationAction) {
                Button(strings(.publish)) { Task { await compose.submit() } }
                    .disabled(!compose.canSubmit)
            }
        }
    }
}
#endif
