package import DataAPI
import Foundation
import Observation

/// A new article. The draft stays until the server has stored it.
@Observable
@MainActor
package final class ComposeModel {
    /// What the user has written.
    package var draft = ArticleDraft(title: "", content: "")

    package private(set) var phase = LoadPhase.idle

    /// The last attempt. The same draft is sent again with the same key, so that a lost response makes no second
    /// article.
    private var attempt: (draft: ArticleDraft, key: String)?
    @ObservationIgnored private let call = ModelCall()
    private let articles: any ArticleWriting
    private let sessionMayHaveEnded: () -> Void
    private let finish: (Article) -> Void

    init(
        articles: any ArticleWriting,
        sessionMayHaveEnded: @escaping () -> Void,
        finish: @escaping (Article) -> Void
    ) {
        self.articles = articles
        self.sessionMayHaveEnded = sessionMayHaveEnded
        self.finish = finish
    }

    /// Whether the draft is complete, and is not being published.
    package var canSubmit: Bool { isComplete && phase != .loading }

    /// Whether the user has written something.
    package var hasDraft: Bool { !draft.title.isEmpty || !draft.content.isEmpty }

    private var isComplete: Bool {
        [draft.title, draft.content].allSatisfy { text in text.contains { !$0.isWhitespace } }
    }

    /// Publishes the draft.
    package func submit() async {
        guard isComplete else {
            // A screen cannot always disable its button.
            if phase != .loading { phase = .failed(ScreenError("incompleteDraft")) }
            return
        }
        await call.join { [self] ticket in
            let draft = draft
            let key = attempt?.draft == draft ? attempt?.key ?? "" : UUID().uuidString
            attempt = (draft, key)
            phase = .loading
            do {
                let article = try await articles.create(draft, key: key)
                guard ticket.isCurrent else { return }
                phase = .idle
                attempt = nil
                // What was written meanwhile is another draft.
                if self.draft == draft { self.draft = ArticleDraft(title: "", content: "") }
                finish(article)
            } catch {
                guard ticket.isCurrent else { return }
                fail(error, ticket)
            }
        }
    }

    /// Stops publishing. The draft stays. The article may have been created.
    package func cancel() {
        call.cancel()
        phase = .idle
    }

    /// What a later session of the same user takes over.
    var place: Place { Place(draft: draft, attempt: attempt) }

    /// A draft and its last attempt.
    struct Place {
        fileprivate let draft: ArticleDraft
        fileprivate let attempt: (draft: ArticleDraft, key: String)?
    }

    func restore(_ place: Place) {
        draft = place.draft
        attempt = place.attempt
    }

    func close() {
        cancel()
        draft = ArticleDraft(title: "", content: "")
        attempt = nil
    }

    private func fail(_ error: any Error, _ ticket: ModelCall.Ticket) {
        guard !error.isCancellation else { return phase = .idle }
        let error = ScreenError(error)
        if error.mayEndSession { sessionMayHaveEnded() }
        if ticket.isCurrent { phase = .failed(error) }
    }
}
